/**
 * Ids for what had none of its own and is a record now: a team's access to a project or a workspace, and the client
 * behind an OAuth token.
 */
export const IDS_OF_ACCESS = `
ALTER TABLE team_workspace_access ADD COLUMN id TEXT;
UPDATE team_workspace_access SET id = 'tws-' || lower(hex(randomblob(8)));
CREATE UNIQUE INDEX team_workspace_access_by_id ON team_workspace_access (id);

ALTER TABLE team_project_access ADD COLUMN id TEXT;
UPDATE team_project_access SET id = 'tprj-' || lower(hex(randomblob(8)));
CREATE UNIQUE INDEX team_project_access_by_id ON team_project_access (id);

ALTER TABLE oauth_tokens ADD COLUMN client_id TEXT;
UPDATE oauth_tokens SET client_id = 'oc-' || lower(hex(randomblob(8)));
CREATE UNIQUE INDEX oauth_tokens_by_client ON oauth_tokens (client_id);

ALTER TABLE api_tokens ADD COLUMN is_main INTEGER NOT NULL DEFAULT 0;
-- Who uses a user's token in that user's name.
ALTER TABLE api_tokens ADD COLUMN impersonator_id TEXT REFERENCES users (id) ON DELETE CASCADE;
-- An organization's token that reads its audit trail and may do nothing else.
ALTER TABLE api_tokens ADD COLUMN is_for_audit_trails INTEGER NOT NULL DEFAULT 0;
`;
