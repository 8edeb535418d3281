"""One file per migration; the newest is `untaken.store.schema.REVISION`."""
