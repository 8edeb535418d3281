"""The desk's order database: a real SQLite database, created for every run."""

from __future__ import annotations

import sqlite3

SCHEMA = """
CREATE TABLE customers (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, vip INTEGER NOT NULL
);
CREATE TABLE orders (
    id TEXT PRIMARY KEY, customer TEXT NOT NULL REFERENCES customers, item TEXT NOT NULL,
    category TEXT NOT NULL, cents INTEGER NOT NULL, days_since_delivery INTEGER, opened INTEGER NOT NULL,
    final_sale INTEGER NOT NULL
);
CREATE TABLE policies (
    id TEXT PRIMARY KEY, refundable INTEGER NOT NULL, days INTEGER NOT NULL, vip_days INTEGER NOT NULL,
    limit_cents INTEGER NOT NULL, vip_limit_cents INTEGER NOT NULL, opened_fee_percent INTEGER NOT NULL,
    queue TEXT NOT NULL
);
CREATE TABLE tickets (
    id TEXT PRIMARY KEY, customer TEXT NOT NULL REFERENCES customers, order_ref TEXT, body TEXT NOT NULL
);
CREATE TABLE refunds (
    id INTEGER PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders,
    cents INTEGER NOT NULL CHECK (cents > 0), ticket TEXT NOT NULL
);
CREATE TABLE escalations (id INTEGER PRIMARY KEY, ticket TEXT NOT NULL, queue TEXT NOT NULL);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, ticket TEXT NOT NULL, channel TEXT NOT NULL, about TEXT NOT NULL
);
"""

CUSTOMERS = [
    ("C01", "Ana Ruiz", "ana@example.com", 0),
    ("C02", "Ben Okafor", "ben@example.com", 0),
    ("C03", "Chiara Lund", "chiara@example.com", 1),
    ("C04", "Dev Patel", "dev@example.com", 0),
    ("C05", "Elif Kaya", "elif@example.com", 0),
    ("C06", "Farid Noor", "farid@example.com", 1),
    ("C07", "Grace Hahn", "grace@example.com", 0),
    ("C08", "Hugo Silva", "hugo@example.com", 0),
]

# id, customer, item, category, cents, days since delivery (None: on its way or lost), opened, final sale
ORDERS = [
    ("A1001", "C01", "linen shirt", "clothing", 5990, 12, 0, 0),
    ("A1002", "C02", "studio headphones", "electronics", 14900, 20, 0, 0),
    ("A1003", "C04", "rain jacket", "clothing", 12000, 45, 0, 0),
    ("A1004", "C05", "glass kettle", "electronics", 3990, 41, 1, 0),
    ("A1005", "C07", "gift card", "gift_card", 5000, 5, 0, 0),
    ("A1006", "C03", "wool coat", "clothing", 18900, 44, 0, 0),
    ("A1007", "C08", "summer dress", "clothing", 7900, 9, 0, 0),
    ("A1008", "C01", "running shoes", "clothing", 9500, 18, 0, 0),
    ("A1009", "C02", "travel laptop", "electronics", 189900, 6, 0, 0),
    ("A1010", "C04", "cook book", "books", 2450, None, 0, 0),
    ("A1011", "C05", "board game", "toys", 3800, 3, 0, 0),
    ("A1012", "C07", "green lamp", "home", 4500, 10, 0, 0),
    ("A1013", "C08", "leather belt", "clothing", 2500, 8, 0, 0),
    ("A1031", "C06", "silver watch", "jewellery", 38000, 21, 0, 0),
    ("A1014", "C01", "silk scarf", "clothing", 1500, 4, 0, 1),
    ("A1015", "C02", "cheese box", "grocery", 3200, 2, 1, 0),
    ("A1016", "C04", "coffee beans", "grocery", 1800, 2, 0, 0),
    ("A1017", "C05", "rain boots", "clothing", 6400, 20, 0, 0),
    ("A1018", "C07", "grey sweater", "clothing", 4900, 14, 0, 0),
    ("A1028", "C07", "black sweater", "clothing", 5500, 6, 0, 0),
    ("A1019", "C08", "wireless earbuds", "electronics", 8000, 10, 1, 0),
    ("A1020", "C06", "evening bag", "accessories", 65000, 15, 0, 0),
    ("A1021", "C01", "yoga mat", "sport", 4200, 8, 0, 0),
    ("A1022", "C02", "bike pump", "sport", 2900, None, 0, 0),
    ("A1023", "C04", "camping tent", "sport", 21000, 25, 0, 0),
    ("A1024", "C05", "chino trousers", "clothing", 6900, 30, 0, 0),
]

# id, refundable, days, VIP days, limit, VIP limit (cents), fee once opened (percent), whom to escalate to
POLICIES = [
    ("general", 1, 30, 60, 50000, 100000, 0, "returns"),
    ("electronics", 1, 14, 30, 50000, 100000, 15, "returns"),
    ("grocery", 1, 3, 3, 50000, 100000, 0, "returns"),
    ("gift_card", 0, 0, 0, 0, 0, 0, "returns"),
    ("damaged", 1, 60, 90, 50000, 100000, 0, "quality"),
    ("wrong_item", 1, 30, 60, 50000, 100000, 0, "quality"),
    ("not_received", 1, 0, 0, 50000, 100000, 0, "logistics"),
    ("delivery_question", 0, 0, 0, 0, 0, 0, "logistics"),
]

EARLIER_REFUNDS = [("A1008", 9500, "earlier")]


def open_database(tickets: list[tuple[str, str, str | None, str]]) -> sqlite3.Connection:
    """A fresh database in memory, holding the catalogue above and the given tickets."""
    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    database.executescript("PRAGMA foreign_keys = ON;" + SCHEMA)
    database.executemany("INSERT INTO customers VALUES (?,?,?,?)", CUSTOMERS)
    database.executemany("INSERT INTO orders VALUES (?,?,?,?,?,?,?,?)", ORDERS)
    database.executemany("INSERT INTO policies VALUES (?,?,?,?,?,?,?,?)", POLICIES)
    database.executemany("INSERT INTO tickets VALUES (?,?,?,?)", tickets)
    database.executemany("INSERT INTO refunds (order_id, cents, ticket) VALUES (?,?,?)", EARLIER_REFUNDS)
    database.commit()
    return database
