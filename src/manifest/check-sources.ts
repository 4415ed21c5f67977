/**
 * Where secrets of manifests may come from, as far as the stack limits it (RULES 42): whoever may write a manifest must not
 * be able to have any variable or file of the machine sent to a service. Tokens of targets stand in the stack itself.
 */
import { relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import type { FieldTable } from '../model/field.ts';
import { isJsonObject, type Path } from '../model/json.ts';
import type { Finding, Kind } from '../model/kind.ts';
import { matchesPattern } from '../model/name-pattern.ts';
import type { Spec } from '../model/resource.ts';
import type { Stack } from '../model/target.ts';
import { orList, quoted } from './problem.ts';

/** Nothing where the stack sets no limits. */
export function checkSources(
  { fields }: Kind,
  spec: Spec,
  { secrets, directory }: Pick<Stack, 'secrets' | 'directory'>,
): Finding[] {
  if (secrets === undefined) return [];
  return sourcesIn(fields, spec, []).flatMap(({ path, env, file }) => [
    ...(env === undefined || secrets.env.some((pattern) => matchesPattern(env, pattern))
      ? []
      : [refusal(path, { what: 'environment variable', list: 'env', name: env, admitted: secrets.env })]),
    ...(file === undefined || secrets.files.some((pattern) => matchesFile(file, pattern, directory))
      ? []
      : [refusal(path, { what: 'file', list: 'files', name: file, admitted: secrets.files })]),
  ]);
}

interface Source {
  readonly path: Path;
  readonly env?: string;
  readonly file?: string;
}

/** The sources that a spec names, in every field that compares as a secret. */
function sourcesIn(fields: FieldTable, spec: Spec, base: Path): Source[] {
  return Object.entries(fields).flatMap(([name, field]): Source[] => {
    const value = spec[name];
    if (!isJsonObject(value)) return [];
    const path = [...base, name];
    if (field.compare.shape !== 'secret') return sourcesIn(field.members ?? {}, value, path);
    const { env, file } = value;
    return [
      ...(typeof env === 'string' ? [{ path: [...path, 'env'], env }] : []),
      ...(typeof file === 'string' ? [{ path: [...path, 'file'], file }] : []),
    ];
  });
}

/** Both are what they lead to from the stack's folder, so that no `..` leads out of what a pattern names. */
function matchesFile(file: string, pattern: string, directory: string): boolean {
  const { base, glob } = picomatch.scan(pattern);
  const wanted = resolve(directory, file);
  if (glob === '') return wanted === resolve(directory, pattern);
  const below = relative(resolve(directory, base), wanted).split(sep).join('/');
  const isOutside = below === '..' || below.startsWith('../');
  return !isOutside && picomatch(glob, { nonegate: true })(below);
}

function refusal(
  path: Path,
  about: {
    readonly what: string;
    readonly list: string;
    readonly name: string;
    readonly admitted: readonly string[];
  },
): Finding {
  const { what, list, name, admitted } = about;
  return {
    code: 'source-not-admitted',
    severity: 'error',
    path,
    message: `the ${what} ${quoted(name)} is none that "spec.secrets" of the stack admits as the source of a secret`,
    allowed: admitted.length === 0 ? `no ${what}` : orList(admitted.map(quoted)),
    fix: `use one that is admitted, or add it to "spec.secrets.${list}" in the stack's file`,
  };
}
