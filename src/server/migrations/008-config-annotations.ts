/** Whether annotations of an account become metadata of its alias: a field of a config that only some services have. */
export const CONFIG_ANNOTATIONS = `
ALTER TABLE cluster_auth_configs ADD COLUMN use_annotations_as_alias_metadata INTEGER NOT NULL DEFAULT 0;
`;
