/**
 * Checks each manifest by itself: against the schema of its kind, then against rules that no schema can express, and warns about
 * deprecated fields. A manifest without a problem is resolved for each target that it names, or for the only one that serves its kind.
 */
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import type { FieldTable } from '../model/field.ts';
import { isJsonObject, type Json, type JsonObject, memberOf, type Path } from '../model/json.ts';
import type { Kind, Registry } from '../model/kind.ts';
import { nearestWord } from '../model/nearest-word.ts';
import { orList, quoted } from '../model/quoted.ts';
import type { Dialect, Target } from '../model/stack.ts';
import { holdsPrivateKey } from '../redaction/mask-text.ts';
import { type Declaration, declare, explainContextOf } from './declaration.ts';
import { documentProblems, explainErrors } from './explain-errors.ts';
import { noDefault } from './explain-type.ts';
import { isStack, type Loaded } from './load-documents.ts';
import {
  diagnose,
  diagnosticKey,
  pathText,
  type Problem,
  quotedMasked,
  serviceSpellings,
} from './problem.ts';
import type { StackReading } from './read-stack.ts';
import { type Entry, resolve } from './resolve-resources.ts';
import { compileSchema } from './schema/compile-schema.ts';
import { headerSchema, manifestSchema } from './schema/manifest-schema.ts';
import { groupTargets, StackDefaults } from './stack-defaults.ts';
import { placeIn, type YamlDocument } from './yaml/yaml-document.ts';

interface ValidatedDocuments {
  readonly entries: readonly Entry[];
  readonly diagnostics: readonly Diagnostic[];
}

interface ValidateContext {
  readonly kinds: Registry;
  readonly dialects: ReadonlyMap<string, Dialect>;
  /** names of the fields that hold, or lead to, a secret */
  readonly secrets: ReadonlySet<string>;
}

/** Validates each document separately, and resolves what it declares in each target. */
export function validateDocuments(
  { stack, documents, isSelection = false }: Loaded,
  { kinds, dialects, secrets }: ValidateContext,
): ValidatedDocuments {
  const spellings = serviceSpellings(dialects);
  const entries: Entry[] = [];
  const diagnostics: Diagnostic[] = [];
  const reportedBefore = stack?.diagnostics ?? [];
  const reported = new Set(reportedBefore.map(diagnosticKey));
  const stackDefaults = stack && new StackDefaults(stack.document, stack.defaults, kinds);
  for (const document of documents) {
    const kind = kindOf(document, kinds);
    if (kind === undefined) {
      diagnostics.push(...validateUnknownKind(document, stack, kinds));
      continue;
    }
    const { value } = document;
    const choice = stack === undefined ? noTargets : chooseTargets({ kind, value }, stack);
    for (const { targets, defaultsOf } of groupTargets(value, choice.targets, stackDefaults)) {
      const declaration = declare(document, kind, { defaults: defaultsOf(kind.name), secrets, spellings });
      const problems = validate(declaration);
      diagnostics.push(...toDiagnostics(declaration, [...problems, ...choice.problems], reported));
      const valid = problems.every(({ severity }) => severity === 'warning');
      for (const target of targets)
        entries.push(...resolve(declaration, target, { valid, context: { kinds, defaultsOf } }));
    }
  }
  const isWhole = !isSelection && documents.length > 0 && !hasErrors([...reportedBefore, ...diagnostics]);
  return { entries, diagnostics: [...diagnostics, ...(isWhole ? (stackDefaults?.unused() ?? []) : [])] };
}

const noTargets = { targets: [], problems: [] };

function kindOf({ value }: YamlDocument, kinds: Registry) {
  const name = isJsonObject(value) ? value['kind'] : undefined;
  return typeof name === 'string' ? kinds.get(name) : undefined;
}

/** Leaves out problems of the defaults that reading the stack has already reported. */
function toDiagnostics(
  { where }: Declaration,
  problems: readonly Parameters<typeof diagnose>[0][],
  reported: ReadonlySet<string>,
): Diagnostic[] {
  return problems.flatMap((problem) => {
    const diagnostic = diagnose(problem, where);
    return where.fromDefaults(problem.path) && reported.has(diagnosticKey(diagnostic)) ? [] : [diagnostic];
  });
}

function validateUnknownKind(
  document: YamlDocument,
  stack: StackReading | undefined,
  kinds: Registry,
): Diagnostic[] {
  if (isStack(document)) return [secondStack(document, stack)];
  const where = {
    place: (path: readonly string[], side?: 'key' | 'value') => placeIn(document, path, side),
    fromDefaults: () => false,
    isSecret: () => false,
  };
  const isPolicy = memberOf(document.value, 'kind') === 'Policy';
  const hint = isPolicy ? { fix: 'name the files of policies in "spec.policies" of the stack' } : {};
  return validateHeader(document, kinds).map((problem) => diagnose({ ...problem, ...hint }, where));
}

function secondStack(document: YamlDocument, stack: StackReading | undefined): Diagnostic {
  return {
    code: 'second-stack',
    severity: 'error',
    class: 'invalid',
    message: 'the manifests of a stack include another Stack',
    place: placeIn(document, ['kind']),
    fix: 'exclude this file from "spec.manifests", with a pattern such as "!other/**"',
    ...(stack === undefined
      ? {}
      : { related: [{ message: 'the stack that is read', place: placeIn(stack.document, ['kind']) }] }),
  };
}

function validate(declaration: Declaration): Problem[] {
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
    ...pathsOfPrivateKeys(value).map(privateKeyProblem),
    ...deprecatedFields(kind, spec),
  ];
}

/** Checks the header of a document whose kind is unknown. */
function validateHeader(document: YamlDocument, kinds: Registry): Problem[] {
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
function pathsOfPrivateKeys(value: Json): readonly Path[] {
  if (typeof value === 'string') return holdsPrivateKey(value) ? [[]] : [];
  const paths: Path[] = [];
  if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value))
      for (const path of pathsOfPrivateKeys(member)) paths.push([name, ...path]);
  return paths;
}

function privateKeyProblem(path: Path): Problem {
  return {
    code: 'private-key',
    path,
    message: `${quoted(pathText(path))} holds a private key, which must not be in a manifest`,
    fix: 'give the public key or the certificate, and replace the key pair',
  };
}

/** Members of `metadata`, and the other members that have no effect or another meaning beside them. */
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

// The targets of a manifest.

interface TargetChoice {
  readonly targets: readonly Target[];
  readonly problems: readonly Problem[];
}

/** @param document as written: defaults do not name a target */
function chooseTargets(
  { kind, value }: { readonly kind: Kind; readonly value: Json },
  stack: StackReading,
): TargetChoice {
  const candidates = stack.targets.filter(({ service }) => service === kind.service);
  const named = namedTargets(memberOf(value, 'metadata'));
  const choices =
    named === undefined
      ? [onlyTarget(kind.name, kind.service, candidates)]
      : named.map(({ name, path }) => namedTarget(name, path, { stack, candidates, kind: kind.name }));
  return {
    targets: choices.flatMap(({ targets }) => targets),
    // Invalid targets are reported with the stack, and an unknown name may be the name of one of them.
    problems: stack.areAllTargetsValid ? choices.flatMap(({ problems }) => problems) : [],
  };
}

interface NamedTarget {
  readonly name: string;
  readonly path: Path;
}

/** The targets that the manifest names; undefined when it names none. */
function namedTargets(metadata: unknown): NamedTarget[] | undefined {
  const { target, targets } = isJsonObject(metadata as never) ? (metadata as Record<string, unknown>) : {};
  if (typeof target === 'string') return [{ name: target, path: ['metadata', 'target'] }];
  if (!Array.isArray(targets)) return undefined;
  return targets.flatMap((name, index) =>
    typeof name === 'string' ? [{ name, path: ['metadata', 'targets', `${index}`] }] : [],
  );
}

function onlyTarget(kind: string, service: string, candidates: readonly Target[]): TargetChoice {
  const [first, second] = candidates;
  if (first !== undefined && second === undefined) return { targets: [first], problems: [] };
  const path = ['metadata', 'target'];
  if (first === undefined) {
    const message = `no target of the stack serves ${kind}`;
    const fix = `add a target of service ${quoted(service)} to the stack`;
    return { targets: [], problems: [{ code: 'no-target', path, side: 'key', message, fix }] };
  }
  const problem: Problem = {
    code: 'ambiguous-target',
    path,
    side: 'key',
    message: `several targets serve ${kind}, and "metadata.target" names none`,
    allowed: orList(candidates.map(({ name }) => quotedMasked(name))),
    fix: `add ${quoted(`target: ${first.name}`)} to "metadata", or another of them`,
  };
  return { targets: [], problems: [problem] };
}

function namedTarget(
  name: string,
  path: Path,
  { stack, candidates, kind }: { stack: StackReading; candidates: readonly Target[]; kind: string },
): TargetChoice {
  const target = candidates.find((candidate) => candidate.name === name);
  if (target !== undefined) return { targets: [target], problems: [] };
  const other = stack.targets.find((candidate) => candidate.name === name);
  const names = candidates.map((candidate) => candidate.name);
  const meant = nearestWord(name, names);
  const problem: Problem = {
    code: other === undefined ? 'unknown-target' : 'wrong-service',
    path,
    message:
      other === undefined
        ? `the stack has no target ${quoted(name)}`
        : `target ${quoted(name)} is of service ${quoted(other.service)}, which does not serve ${kind}`,
    allowed: orList(names.map(quotedMasked)),
    fix: meant === undefined ? fixWithout(names) : `did you mean ${quoted(meant)}?`,
  };
  return { targets: [], problems: [problem] };
}

/** @param names of the targets that serve the kind */
function fixWithout(names: readonly string[]): string {
  const [only, ...more] = names;
  if (only === undefined) return 'add such a target to the stack';
  return more.length === 0 ? `write ${quoted(only)}, or leave "target" out` : 'name one of these';
}
