/** What clients of the real service expect to read back: how a state was announced, and what an OAuth client was made with. */
export const CLIENT_FIELDS = `
ALTER TABLE state_versions ADD COLUMN forced INTEGER NOT NULL DEFAULT 0;
ALTER TABLE oauth_tokens ADD COLUMN api_url TEXT;
ALTER TABLE oauth_tokens ADD COLUMN organization_scoped INTEGER NOT NULL DEFAULT 1;
`;
