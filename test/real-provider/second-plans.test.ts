/**
 * The provider `tfe` of Terraform on the embedded service: the resources that it created need no change in a second plan.
 * `npm run real-provider` runs it on machines that have `terraform` and `terraform-provider-tfe` on the PATH.
 */
import { expect, it } from 'vitest';
import { serveProcess } from '../support/cli/process.ts';
import { configureProvider, folderOf } from '../support/real-clients/terraform.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';

const SEED = 'users: [{ username: ann, token: ann-token }]\n';

const ORGANIZATION = `resource "tfe_organization" "acme" {
  name  = "acme"
  email = "ops@example.com"
}
`;

const TEAM = `resource "tfe_team" "platform" {
  name         = "platform"
  organization = tfe_organization.acme.name
  organization_access {
    manage_workspaces = true
    read_projects     = true
  }
}
`;

const REPOSITORY = `resource "tfe_oauth_client" "git" {
  organization     = tfe_organization.acme.name
  api_url          = "https://api.github.com"
  http_url         = "https://github.com"
  oauth_token      = "not-a-real-token"
  service_provider = "github"
}
resource "tfe_workspace" "network" {
  name           = "network"
  organization   = tfe_organization.acme.name
  queue_all_runs = false
  vcs_repo {
    identifier     = "acme/network"
    oauth_token_id = tfe_oauth_client.git.oauth_token_id
  }
}
`;

it.each([
  ['an organization', ''],
  ['a team', TEAM],
  ['a workspace with a repository', REPOSITORY],
])('plans no change after it created %s, and destroys everything', async (_what, resources) => {
  const folder = folderOf('terraform-provider-tfe');
  if (folder === undefined) throw new Error('terraform-provider-tfe is not on the PATH');
  const cwd = temporaryFolder({ 'seed.yaml': SEED });
  const { line } = await serveProcess(
    ['--dialect', 'hcp-terraform', '--data', ':memory:', '--seed', 'seed.yaml'],
    { cwd },
  );
  const host = { url: /https?:\S+/.exec(line)?.[0] ?? '', token: 'ann-token' };
  const configuration = configureProvider(host, folder, ORGANIZATION + resources);
  for (const command of ['apply -auto-approve', 'plan -detailed-exitcode', 'destroy -auto-approve']) {
    const { code, said } = await configuration.run(command.split(' '));
    expect(code, `terraform ${command}\n${said}`).toBe(0);
  }
});
