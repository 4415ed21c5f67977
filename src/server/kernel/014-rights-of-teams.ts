/** What clients set of teams and read back: rights over the organization, single sign-on; custom access to a project. */

export const RIGHTS_OF_TEAMS = `
-- JSON: the names of the rights that decide nothing here.
ALTER TABLE teams ADD COLUMN kept_rights TEXT NOT NULL DEFAULT '[]';
ALTER TABLE teams ADD COLUMN allow_member_token_management INTEGER NOT NULL DEFAULT 1;
ALTER TABLE teams ADD COLUMN sso_team_id TEXT;

CREATE TABLE new_project_access (
  id TEXT,
  team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  access TEXT NOT NULL CHECK (access IN ('read', 'write', 'maintain', 'admin', 'custom')),
  -- JSON: what a custom access grants.
  custom_permissions TEXT,
  PRIMARY KEY (team_id, project_id)
) STRICT, WITHOUT ROWID;
INSERT INTO new_project_access (id, team_id, project_id, access)
  SELECT id, team_id, project_id, access FROM team_project_access;
DROP TABLE team_project_access;
ALTER TABLE new_project_access RENAME TO team_project_access;
CREATE UNIQUE INDEX team_project_access_by_id ON team_project_access (id);
`;
