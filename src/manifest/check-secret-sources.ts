/**
 * Checks the sources of secrets in manifests against the limits that the stack sets (rule 42): the author of a manifest must not
 * be able to send any variable or file of the machine to a service. Tokens of targets are in the stack file and not limited.
 */
import type { FieldTable } from '../model/field.ts';
import { isJsonObject, type Path } from '../model/json.ts';
import type { ResourceProblem, Kind } from '../model/kind.ts';
import { matchesPattern } from '../model/name-pattern.ts';
import type { Spec } from '../model/resource.ts';
import type { Stack } from '../model/stack.ts';
import { quoted } from '../model/quoted.ts';
import { isFileAdmitted, realPathOutside } from './files/admitted-files.ts';
import { orList, quotedShort } from './problem.ts';

/** Returns no problem when the stack sets no limits. */
export function checkSources(
  { fields }: Kind,
  spec: Spec,
  { secrets, directory }: Pick<Stack, 'secrets' | 'directory'>,
): ResourceProblem[] {
  if (secrets === undefined) return [];
  return sourcesIn(fields, spec, []).flatMap(({ path, env, file }) => [
    ...(env === undefined || secrets.env.some((pattern) => matchesPattern(env, pattern))
      ? []
      : [refusal(path, { what: 'environment variable', list: 'env', name: env, admitted: secrets.env })]),
    ...(file === undefined ? [] : checkFile(path, file, { admitted: secrets.files, directory })),
  ]);
}

function checkFile(
  path: Path,
  file: string,
  { admitted, directory }: { readonly admitted: readonly string[]; readonly directory: string },
): ResourceProblem[] {
  const about = { what: 'file', list: 'files', name: file, admitted };
  if (!isFileAdmitted(file, admitted, directory)) return [refusal(path, about)];
  const real = realPathOutside(file, admitted, directory);
  if (real === undefined) return [];
  const message = `the file ${quotedShort(file)} is a link out of what "spec.secrets" of the stack admits, to ${quotedShort(real)}`;
  const fix = `name the file that is meant, and add that one to "spec.secrets.files" in the stack's file`;
  return [{ ...refusal(path, about), message, fix }];
}

interface Source {
  readonly path: Path;
  readonly env?: string;
  readonly file?: string;
}

/** The sources that a spec names in its secret fields. */
export function sourcesIn(fields: FieldTable, spec: Spec, base: Path): Source[] {
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

function refusal(
  path: Path,
  about: {
    readonly what: string;
    readonly list: string;
    readonly name: string;
    readonly admitted: readonly string[];
  },
): ResourceProblem {
  const { what, list, name, admitted } = about;
  return {
    code: 'source-not-admitted',
    severity: 'error',
    path,
    message: `"spec.secrets" of the stack does not admit the ${what} ${quotedShort(name)} as the source of a secret`,
    allowed: admitted.length === 0 ? `no ${what}` : orList(admitted.map(quotedShort)),
    fix: `use one that is admitted, or add it to ${quoted(`spec.secrets.${list}`)} in the stack's file`,
  };
}
