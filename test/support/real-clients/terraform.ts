/** The real Terraform CLI from the PATH, with its own folder and its own service for each configuration. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { temporaryFolder, writeFiles } from '../rig/temporary-folder.ts';

/** The folder on the PATH with a program whose name begins with this; undefined if there is none. */
export function folderOf(program: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .find((folder) => existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(program)));
}

export interface Ended {
  readonly code: number | null;
  /** both streams, without colours */
  readonly said: string;
}

export interface Host {
  /** `http://127.0.0.1:<port>`, or `https://localhost:<port>` */
  readonly url: string;
  readonly token: string;
  /** a certificate to trust; with it, Terraform discovers the services of the host itself */
  readonly trust?: string;
}

/** One configuration of Terraform, in its own folder. */
export interface Configuration {
  /** Runs a command to its end. @param typed the input of the user */
  run(args: readonly string[], typed?: string): Promise<Ended>;
  write(files: Readonly<Record<string, string>>): void;
  /** whether the file is there */
  has(file: string): boolean;
}

/** A configuration with `cloud { workspaces { … } }`. @param rest further blocks, which must not need a registry */
export function configure(host: Host, workspaces: string, rest: string): Configuration {
  const cloud = `terraform {
  cloud {
    hostname     = "${nameOf(host)}"
    organization = "acme"
    workspaces { ${workspaces} }
  }
}
`;
  return configurationIn(host, cloud + rest, settings(host));
}

/** Resources of the provider `tfe` with a local state. @param folder where the provider's binary is */
export function configureProvider(host: Host, folder: string, resources: string): Configuration {
  const main = `terraform {
  required_providers {
    tfe = { source = "hashicorp/tfe" }
  }
}
provider "tfe" {
  hostname = "${nameOf(host)}"
}
`;
  const overrides = `provider_installation {
  dev_overrides { "hashicorp/tfe" = "${folder}" }
  direct {}
}
`;
  return configurationIn(host, main + resources, overrides + settings(host));
}

function configurationIn(host: Host, main: string, cliSettings: string): Configuration {
  const folder = temporaryFolder({
    'main.tf': main,
    'settings/cli.tfrc': cliSettings,
    ...(host.trust === undefined ? {} : { 'settings/trust.pem': host.trust }),
  });
  return {
    run: (args, typed = '') => terraform(folder, args, { typed, trusts: host.trust !== undefined }),
    write: (files) => writeFiles(folder, files),
    has: (file) => existsSync(join(folder, file)),
  };
}

function nameOf({ url }: Host): string {
  return `localhost:${new URL(url).port}`;
}

/** With the services of the host in the settings, Terraform does not discover them, and can use HTTP without TLS (wire/workspaces 1.6). */
function settings(host: Host): string {
  const { url, token, trust } = host;
  const services = ['state.v2', 'tfe.v2', 'tfe.v2.1', 'tfe.v2.2'].map((id) => `"${id}" = "${url}/api/v2/"`);
  const hostBlock =
    trust === undefined ? `host "${nameOf(host)}" { services = { ${services.join(', ')} } }\n` : '';
  return `disable_checkpoint = true\n${hostBlock}credentials "${nameOf(host)}" { token = "${token}" }\n`;
}

async function terraform(
  folder: string,
  args: readonly string[],
  { typed, trusts }: { readonly typed: string; readonly trusts: boolean },
): Promise<Ended> {
  const child = spawn('terraform', args, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      TF_CLI_CONFIG_FILE: join(folder, 'settings', 'cli.tfrc'),
      CHECKPOINT_DISABLE: '1',
      ...(trusts ? { SSL_CERT_FILE: join(folder, 'settings', 'trust.pem') } : {}),
    },
  });
  child.stdin.on('error', () => {});
  child.stdin.end(typed);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, said: stripVTControlCharacters(out + err) };
}
