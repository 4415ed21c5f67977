/** Drafts the files of a new stack: the stack itself, a first manifest or a page about manifests, files for a CI, and lines for git to ignore. */
import { join } from 'node:path';
import { stateFolderName } from '../../files/write-file.ts';
import { stackFileName } from '../../manifest/files/find-stack.ts';
import { apiVersion } from '../../manifest/schema/manifest-schema.ts';
import { dumpYaml } from '../../manifest/yaml/write-manifests.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { Target } from '../../model/stack.ts';
import { pinFolder, schemaDirectory, schemaLine } from '../../run/editor-schemas.ts';
import { type Ci, pipelinesOf } from './pipelines.ts';

export interface StackAnswers {
  readonly name: string;
  readonly target: Target;
  readonly ci: Ci;
  readonly ledger: string;
  /** absolute */
  readonly directory: string;
  /** absolute: the root of the repository */
  readonly root: string;
}

export interface DraftedFile {
  /** absolute */
  readonly path: string;
  readonly text: string;
  /** what it is for, as a clause */
  readonly about: string;
}

/** Lines that a `.gitignore` must have. */
export interface IgnoredPaths {
  /** absolute path of the `.gitignore` */
  readonly path: string;
  readonly lines: readonly string[];
}

export interface Drafted {
  /** the stack first; none of them may exist */
  readonly files: readonly DraftedFile[];
  readonly ignored: readonly IgnoredPaths[];
}

export function draftFiles(answers: StackAnswers): Drafted {
  const { target, ci, directory, root } = answers;
  const pipelines = pipelinesOf(ci, tokenOf(target));
  const isPinned = pipelines.length === 0 ? {} : { isPinned: true };
  const schemas = schemaDirectory({ stack: directory, root, ...isPinned });
  const stack = {
    path: join(directory, stackFileName),
    text: `${schemaLine('stack', directory, schemas)}${stackText(answers)}`,
    about: 'the stack: its target and its settings',
  };
  const ofCi = pipelines.map(({ path, ...file }) => ({ ...file, path: join(root, path) }));
  const files = [stack, firstManifest(answers, schemas), ...ofCi];
  const local = { path: join(directory, '.gitignore'), lines: [`${stateFolderName}/`, 'plan.json'] };
  if (pipelines.length === 0) return { files, ignored: [local] };
  const installed = [`${pinFolder}/node_modules/`];
  return directory === root
    ? { files, ignored: [{ ...local, lines: [...local.lines, ...installed] }] }
    : { files, ignored: [local, { path: join(root, '.gitignore'), lines: installed }] };
}

/** Of a target that does not log in. */
export function tokenOf({ token }: Target) {
  return token === undefined || 'login' in token ? undefined : token;
}

function stackText({ name, target, ci, ledger }: StackAnswers): string {
  const isEmbedded = target.url === 'embedded';
  const manifests = isEmbedded
    ? '  manifests: [manifests/**/*.yaml]\n'
    : '  # "optional" allows that there is no manifest yet. Remove it when there is one.\n' +
      '  manifests: [{ pattern: manifests/**/*.yaml, optional: true }]\n';
  const places = isEmbedded
    ? ''
    : '  # Where the record of each apply is kept. A team and a CI need "git" or "postgres".\n';
  const ledgerLine = isEmbedded && ci === 'none' && ledger === 'local' ? '' : `  ledger: ${ledger}\n`;
  return `# "trueup explain Stack.targets.url" explains a key, and "trueup explain Stack" lists all of them.
apiVersion: ${apiVersion}
kind: Stack
metadata: { name: ${scalar(name)} }
spec:
${manifests}  targets:
${targetText(target)}${ledgerLine === '' ? '' : places}${ledgerLine}`;
}

/** In the order of the guides. The default dialect of the embedded service is left out. */
function targetText(target: Target): string {
  const { name, service, url, organization, mount, namespace, token, caCert, dialect, owns } = target;
  const isEmbedded = url === 'embedded';
  const members: readonly (readonly [string, unknown])[] = [
    ['name', name],
    ['service', service],
    ['url', url],
    ['organization', organization],
    ['mount', mount],
    ['token', token],
    ['caCert', caCert],
    ['namespace', namespace],
    ['dialect', isEmbedded && dialect === 'neutral' ? undefined : dialect],
    ['owns', owns],
  ];
  const lines = members.flatMap(([key, value]) =>
    value === undefined ? [] : `${key}: ${inline(JSON.parse(JSON.stringify(value)))}`,
  );
  return `    - ${lines.join('\n      ')}\n`;
}

function inline(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (!isJsonObject(value)) return scalar(value);
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${key}: ${inline(member)}`)
    .join(', ')} }`;
}

/** As "trueup fmt" writes it: in quotes only where it would mean something else, also between braces. */
function scalar(value: Json): string {
  if (typeof value !== 'string' || /[\p{C}\p{Zl}\p{Zp}]/u.test(value)) return JSON.stringify(value);
  const written = dumpYaml(value, { lineWidth: -1 }).trim();
  const isPlain = written === value && /[,[\]{}]/.test(value);
  return isPlain ? `'${value.replaceAll("'", "''")}'` : written;
}

// The beginning of the manifests. For the embedded service it is a manifest, which an apply creates at once. For a real service it is a
// page with the same manifest: an apply must create nothing there that nobody asked for.

function firstManifest({ target, name, directory }: StackAnswers, schemas: string): DraftedFile {
  const folder = join(directory, 'manifests');
  const kind = target.service === 'workspaces' ? 'workspace' : 'cluster-auth-role';
  const manifest = `${schemaLine(kind, folder, schemas)}${sample(target)}`;
  if (target.url === 'embedded')
    return { path: join(folder, 'example.yaml'), text: manifest, about: 'a first manifest' };
  return {
    path: join(folder, 'README.md'),
    text: pageText(name, target, manifest),
    about: 'how to begin a manifest',
  };
}

function sample({ service, owns: [pattern = 'example'] = [] }: Target): string {
  if (service === 'workspaces')
    return `apiVersion: ${apiVersion}
kind: Workspace
metadata: { name: example }
spec:
  description: A first workspace
  autoApply: false
  tags: { env: dev }
`;
  return `apiVersion: ${apiVersion}
kind: ClusterAuthRole
metadata: { name: ${scalar(pattern.replaceAll('*', 'example'))} }
spec:
  boundServiceAccountNames: [example]
  boundServiceAccountNamespaces: [default]
  audience: example
  tokenPolicies: [default]
  tokenTtl: 1h
`;
}

function pageText(name: string, { service }: Target, manifest: string): string {
  const kind = service === 'workspaces' ? 'Workspace' : 'ClusterAuthRole';
  return `# Manifests of the stack ${name}

Each YAML file in this folder, or in a folder below it, describes resources of the stack. For resources that exist already, trueup writes them:

\`\`\`sh
trueup export --out manifests
\`\`\`

A manifest for something new, such as \`example.yaml\`:

\`\`\`yaml
${manifest}\`\`\`

- \`trueup explain ${kind}\` lists the fields, and \`trueup explain ${kind}.${service === 'workspaces' ? 'tags' : 'tokenTtl'}\` explains one.
- \`trueup validate\` checks the files, and \`trueup plan\` shows what an apply would do.
`;
}
