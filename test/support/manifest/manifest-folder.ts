/** Reads a folder of manifests on disk as the CLI does. */
import { join } from 'node:path';
import { type Manifests, readManifests } from '../../../src/manifest/read-manifests.ts';
import type { Diagnostic } from '../../../src/model/diagnostic.ts';
import { sampleDialects, sampleKinds } from './sample-kinds.ts';
import { type Files, temporaryFolder } from '../rig/temporary-folder.ts';

/** A minimal stack with one target of each service. */
export const plainStack = `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: payments }
spec:
  manifests: [manifests]
  targets:
    - { name: acme, service: workspaces, url: embedded, organization: acme }
    - { name: prod, service: cluster-auth, url: embedded }
`;

export async function read(
  files: Files,
  options: {
    readonly path?: string;
    readonly stdin?: string;
    readonly inputIsWhole?: boolean;
    readonly from?: string;
  } = {},
): Promise<Manifests> {
  const folder = temporaryFolder(files);
  const { path, stdin, from, inputIsWhole } = options;
  return readManifests({
    ...(path === undefined ? {} : { path }),
    ...(stdin === undefined ? {} : { stdin: () => Promise.resolve(Buffer.from(stdin)) }),
    ...(inputIsWhole === undefined ? {} : { inputIsWhole }),
    cwd: from === undefined ? folder : join(folder, from),
    kinds: sampleKinds,
    dialects: sampleDialects,
  });
}

/** One manifest in a plain stack. */
export function readOne(manifest: string, stack = plainStack): Promise<Manifests> {
  return read({ 'trueup.yaml': stack, 'manifests/a.yaml': manifest });
}

/** One line for each diagnostic: `a.yaml:5:3+9 unknown-field message | found … | allowed … | fix`. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ place, code, message, found, allowed, fix, related }) =>
    [
      `${place === undefined ? '' : `${place.file}:${place.line}:${place.column}+${place.length} `}${code}: ${message}`,
      ...(found === undefined ? [] : [`found ${found}`]),
      ...(allowed === undefined ? [] : [`allowed ${allowed}`]),
      ...(fix === undefined ? [] : [`fix: ${fix}`]),
      ...(related ?? []).map(
        (other) =>
          `${other.message}${other.place === undefined ? '' : ` ${other.place.file}:${other.place.line}:${other.place.column}`}`,
      ),
    ].join(' | '),
  );
}
