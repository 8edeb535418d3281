"""The report as one HTML file for people who do not code: parts, pictures, words and the page."""

from untaken.html.document import report_document as report_document
from untaken.html.page import html_report as html_report
