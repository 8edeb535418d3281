"""One file per migration; the newest is `untaken.workspace.schema.REVISION`."""
