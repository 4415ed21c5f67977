/** Who made a token of an organization or a team. */
export const TOKEN_MAKERS = `
ALTER TABLE api_tokens ADD COLUMN created_by_id TEXT REFERENCES users (id) ON DELETE SET NULL;
`;
