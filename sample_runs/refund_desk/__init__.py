"""The refund desk: six small agents, twenty-four tickets and a real order database."""
