"""What pages share: state, cards, tables, the frame."""
