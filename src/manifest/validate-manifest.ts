/**
 * Checks one manifest by itself: first against the schema of its kind, then against rules that hold for every kind and that a
 * schema cannot express, such as `null` in a field without a default. A manifest without a problem can be resolved.
 */
import type { FieldTable } from '../model/kind/field.ts';
import { isJsonObject, type Json, type JsonObject, type Path } from '../model/json/json.ts';
import type { Registry } from '../model/kind/kind.ts';
import { holdsPrivateKey } from '../model/private-key.ts';
import { quoted } from '../model/quoted.ts';
import { compileSchema } from './schema/compile-schema.ts';
import { type Declaration, explainContextOf } from './resolve/declaration.ts';
import { deprecatedFields } from './resolve/deprecated-fields.ts';
import { explainErrors } from './explain/explain-errors.ts';
import { noDefault } from './explain/explain-type.ts';
import { headerSchema, manifestSchema } from './schema/manifest-schema.ts';
import { pathText, type Problem } from './explain/problem.ts';
import { typedText, type YamlDocument } from './yaml/yaml-document.ts';

export function validate(declaration: Declaration): Problem[] {
  const { kind, value } = declaration;
  const errors = compileSchema(kind, () => manifestSchema(kind))(value);
  const broken = errors.length === 0 ? [] : explainErrors(errors, explainContextOf(declaration));
  const metadata = isJsonObject(value['metadata']) ? value['metadata'] : {};
  const spec = isJsonObject(value['spec']) ? value['spec'] : {};
  const nulls = nullsWithoutDefault(spec, kind.fields, ['spec']).map((path) => noDefault(path, kind.absent));
  const reported = new Set(broken.map(({ path }) => path.join('\0')));
  return [
    ...broken,
    ...nulls.filter(({ path }) => !reported.has(path.join('\0'))),
    ...contradictions(metadata),
    ...privateKeys(value, []),
    ...deprecatedFields(kind, spec),
  ];
}

/** Checks the header of a document whose kind is unknown. */
export function validateHeader(document: YamlDocument, kinds: Registry): Problem[] {
  const schema = headerSchema(kinds);
  const problems = explainErrors(compileSchema(kinds, () => schema)(document.value), {
    base: [],
    schema,
    typed: (path) => typedText(document, path),
    field: () => undefined,
    isSecret: () => false,
    absent: 'unmanaged',
  });
  return problems.map((problem) =>
    problem.code === 'not-allowed' && problem.path[0] === 'kind'
      ? { ...problem, code: 'unknown-kind', message: 'trueup knows no such kind' }
      : problem,
  );
}

/** Paths of fields that are `null` (use the default) but have no default; some schemas cannot refuse these (rule 6). */
function nullsWithoutDefault(values: JsonObject, fields: FieldTable, base: Path): Path[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) return [];
    const path = [...base, name];
    if (value === null) return field.default === undefined ? [path] : [];
    return field.members !== undefined && isJsonObject(value)
      ? nullsWithoutDefault(value, field.members, path)
      : [];
  });
}

/** Said beside all else that is wrong: whoever wrote a private key into a repository has to know of it at once. */
function privateKeys(value: Json, path: Path): Problem[] {
  if (typeof value === 'string') return holdsPrivateKey(value) ? [privateKey(path)] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => privateKeys(member, [...path, name]));
}

function privateKey(path: Path): Problem {
  return {
    code: 'private-key',
    path,
    message: `${quoted(pathText(path))} holds a private key, which must not stand in a manifest`,
    fix: 'give the public key or the certificate, and replace the key pair',
  };
}

/** Members of `metadata` that mean nothing beside `remove`. */
const meaninglessWithRemove = ['adopt', 'onRemove', 'protect', 'renamedFrom'];

function contradictions(metadata: JsonObject): Problem[] {
  const problems: Problem[] = [];
  if (metadata['target'] !== undefined && metadata['targets'] !== undefined)
    problems.push({
      code: 'contradiction',
      path: ['metadata', 'targets'],
      side: 'key',
      message: '"metadata.target" and "metadata.targets" are both set',
      fix: 'keep one of them',
      related: [{ message: 'the other one', path: ['metadata', 'target'] }],
    });
  if (metadata['remove'] === undefined) return problems;
  for (const name of meaninglessWithRemove.filter((name) => metadata[name] !== undefined))
    problems.push({
      code: 'contradiction',
      path: ['metadata', name],
      side: 'key',
      message: `${quoted(`metadata.${name}`)} means nothing in a document that asks for removal`,
      fix: `remove ${quoted(name)}, or "remove"`,
      related: [{ message: 'removal is asked for here', path: ['metadata', 'remove'] }],
    });
  return problems;
}
