"""The report as one HTML file for people who do not code: parts, pictures, words and the page."""

from untaken.views.html.page import html_report as html_report
