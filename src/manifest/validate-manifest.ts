/**
 * Checks one manifest by itself: against the schema of its kind, then against rules that no schema can express, and warns about
 * deprecated fields. A manifest without a problem can be resolved.
 */
import type { FieldTable } from '../model/field.ts';
import { isJsonObject, type Json, type JsonObject, type Path } from '../model/json.ts';
import type { Kind, Registry } from '../model/kind.ts';
import { quoted } from '../model/quoted.ts';
import { holdsPrivateKey } from '../redaction/mask-text.ts';
import { type Declaration, explainContextOf } from './declaration.ts';
import { documentProblems, explainErrors } from './explain-errors.ts';
import { noDefault } from './explain-type.ts';
import { pathText, type Problem } from './problem.ts';
import { compileSchema } from './schema/compile-schema.ts';
import { headerSchema, manifestSchema } from './schema/manifest-schema.ts';
import type { YamlDocument } from './yaml/yaml-document.ts';

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
    ...privateKeys(value).map(privateKey),
    ...deprecatedFields(kind, spec),
  ];
}

/** Checks the header of a document whose kind is unknown. */
export function validateHeader(document: YamlDocument, kinds: Registry): Problem[] {
  const problems = documentProblems(document, kinds, headerSchema(kinds));
  return problems.map((problem) =>
    problem.code === 'not-allowed' && problem.path[0] === 'kind'
      ? { ...problem, code: 'unknown-kind', message: 'there is no such kind' }
      : problem,
  );
}

/** Paths of fields that are `null` (use the default) but have no default; some schemas cannot refuse these. */
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

/** The paths of private keys. Reported even beside other errors: a private key in a repository must be replaced at once. */
function privateKeys(value: Json): readonly Path[] {
  if (typeof value === 'string') return holdsPrivateKey(value) ? [[]] : [];
  const paths: Path[] = [];
  if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value))
      for (const path of privateKeys(member)) paths.push([name, ...path]);
  return paths;
}

function privateKey(path: Path): Problem {
  return {
    code: 'private-key',
    path,
    message: `${quoted(pathText(path))} holds a private key, which must not be in a manifest`,
    fix: 'give the public key or the certificate, and replace the key pair',
  };
}

/** What a member of `metadata` excludes: each has no effect beside it, or means something else. */
const excluded = [
  {
    by: 'remove',
    others: ['adopt', 'onRemove', 'protect', 'renamedFrom', 'movedFrom', 'movedTo'],
    where: 'in a removal request',
    why: 'removal is requested here',
  },
  {
    by: 'movedTo',
    others: ['adopt', 'onRemove', 'protect', 'renamedFrom', 'movedFrom'],
    where: 'in the document of a resource that another stack takes over',
    why: 'the other stack is named here',
  },
  {
    by: 'movedFrom',
    others: ['adopt', 'renamedFrom'],
    where: 'beside "movedFrom", which brings the resource with its record',
    why: 'it is taken over here',
  },
];

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
  const rule = excluded.find(({ by }) => metadata[by] !== undefined);
  if (rule === undefined) return problems;
  const { by, where, why } = rule;
  for (const name of rule.others.filter((other) => metadata[other] !== undefined))
    problems.push({
      code: 'contradiction',
      path: ['metadata', name],
      side: 'key',
      message: `${quoted(`metadata.${name}`)} has no effect ${where}`,
      fix: `remove ${quoted(name)}, or ${quoted(by)}`,
      related: [{ message: why, path: ['metadata', by] }],
    });
  return problems;
}

// Warns about fields that the API has deprecated. Checks the names that users wrote, before a kind replaces them by the new ones.

/** One warning for each member of `spec` whose schema says `deprecated`; the fix comes from the schema's description. */
export function deprecatedFields({ specSchema }: Kind, spec: JsonObject): Problem[] {
  const { properties } = specSchema;
  return Object.keys(spec).flatMap((name): Problem[] => {
    const field = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isJsonObject(field) || field['deprecated'] !== true) return [];
    return [
      {
        code: 'deprecated-field',
        severity: 'warning',
        path: ['spec', name],
        side: 'key',
        message: `${quoted(name)} is deprecated by the API`,
        fix: successor(field['description']) ?? `leave ${quoted(name)} out`,
      },
    ];
  });
}

/** The text after "Deprecated by the API:" up to the next punctuation mark. */
function successor(description: unknown): string | undefined {
  return typeof description === 'string'
    ? /^Deprecated by the API: ([^.,:]+)/.exec(description)?.[1]?.trim()
    : undefined;
}
