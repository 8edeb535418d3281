"""One file a step; the newest is `untaken.store.schema.REVISION`."""
