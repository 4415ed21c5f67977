/**
 * Turns a Stack document into a stack. The valid parts are returned even when other parts are wrong, so that a mistake in
 * `trueup.yaml` does not prevent the check of the manifests.
 */
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import { parseDuration } from '../model/duration.ts';
import { isJsonObject, type Json, type JsonObject, memberOf, type Path, textsOf } from '../model/json.ts';
import { jsonSchema } from '../model/define-kind.ts';
import type { Registry } from '../model/kind.ts';
import {
  type ArchivePlace,
  archiveUrl,
  type DefaultsEntry,
  type DefaultsMatch,
  type Dialect,
  type Guards,
  type SecretSource,
  type Stack,
  type Target,
} from '../model/stack.ts';
import type { PolicySource } from '../model/policy-source.ts';
import { orList, quoted } from '../model/quoted.ts';
import { checkEmbeddedDialects, checkLevels, checkPlaces, readTarget } from './read-target.ts';
import { compileSchema } from './schema/compile-schema.ts';
import { explainErrors } from './explain-errors.ts';
import {
  diagnose,
  type DocumentPlaces,
  type ExplainContext,
  type Problem,
  quotedMasked,
  serviceSpellings,
} from './problem.ts';
import type { ManifestPattern } from './files/list-files.ts';
import { partialSpecSchema } from './schema/manifest-schema.ts';
import { leadsToSecret } from './yaml/secret-fields.ts';
import { nearestWord } from '../model/nearest-word.ts';

import { readLedgerPlace } from './ledger-place.ts';
import type { ArchiveDocument } from './schema/place-schemas.ts';
import { type StackDocument, stackSchema } from './schema/stack-schema.ts';
import { placeIn, typedText, type YamlDocument } from './yaml/yaml-document.ts';

/** The valid parts of a Stack, and its problems. */
export interface StackReading {
  readonly document: YamlDocument;
  /** absent when it has errors */
  readonly stack?: Stack;
  /** the same without the targets that have errors; absent when another part has errors */
  readonly partial?: Stack;
  /** the valid targets */
  readonly targets: readonly Target[];
  /** whether all targets of the document are valid */
  readonly areAllTargetsValid: boolean;
  readonly manifests: readonly ManifestPattern[];
  /** patterns of the files of policies, which hold no manifests */
  readonly policyFiles: readonly string[];
  /** in the order of the document: later entries win */
  readonly defaults: readonly DefaultsEntry[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Replaces settings of a valid stack as soon as it is read, before anything is checked against them. */
export type AdjustStack = (stack: Stack) => Stack;

interface StackContext {
  readonly adjust?: AdjustStack | undefined;
  readonly kinds: Registry;
  readonly dialects: ReadonlyMap<string, Dialect>;
  readonly secrets: ReadonlySet<string>;
  /** absolute path of the directory that the stack's paths are relative to */
  readonly directory: string;
}

export function readStack(document: YamlDocument, context: StackContext): StackReading {
  const schema = jsonSchema(stackSchema);
  const explainContext = explainContextOf(document, context, schema);
  const broken = explainErrors(compileSchema(stackSchema, () => schema)(document.value), explainContext);
  const spec = objectIn(document.value, 'spec');
  const listed = Array.isArray(spec?.['targets']) ? spec['targets'] : [];
  const targets = listed.map((target, index) => {
    const base = ['spec', 'targets', `${index}`];
    const invalid = broken
      .filter(({ path }) => isBelow(path, base))
      .map(({ path }) => path[base.length] ?? '');
    return readTarget(target, { base, invalid, dialects: context.dialects });
  });
  const defaults = readDefaults(spec?.['defaults']);
  const problems = [
    ...broken,
    ...targets.flatMap((target) => target.problems),
    ...checkFormerName(objectIn(document.value, 'metadata')),
    ...repeatedNames(listed),
    ...checkPlaces(targets.map(({ target }) => target)),
    ...checkEmbeddedDialects(targets.map(({ target }) => target)),
    ...checkLevels('guards', spec?.['guards']),
    ...checkLevels('lint', spec?.['lint']),
    ...checkAccepted(spec?.['approvals']),
    ...defaults.flatMap((entry) => checkDefaults(entry, { document, context })),
  ];
  const where = documentPlaces(document, context);
  const diagnostics = problems.map((problem) => diagnose(problem, where));
  const validTargets = targets.flatMap(({ target }) => (target === undefined ? [] : [target]));
  const reading = {
    document,
    targets: validTargets,
    areAllTargetsValid: validTargets.length === listed.length,
    manifests: patternsIn(spec?.['manifests'], broken),
    policyFiles: textsOf(memberOf(spec?.['policies'], 'files')),
    defaults,
    diagnostics,
  };
  // a part without errors matches the schema
  const written = document.value as unknown as StackDocument;
  if (!hasErrors(diagnostics)) {
    const { adjust = (same) => same } = context;
    const stack = adjust(toStack(written, reading, context));
    return { ...reading, stack, targets: stack.targets };
  }
  const wrong = problems.filter(({ severity }) => severity !== 'warning').map(({ path }) => path);
  if (!wrong.every((path) => isBelow(path, ['spec', 'targets']) && path.length > 2)) return reading;
  const usable = targets.flatMap(({ target }, index) =>
    target === undefined || wrong.some((path) => path[2] === `${index}`) ? [] : [target],
  );
  return { ...reading, partial: toStack(written, { ...reading, targets: usable }, context) };
}

function checkFormerName(metadata: JsonObject | undefined): Problem[] {
  const { name, renamedFrom } = metadata ?? {};
  if (typeof name !== 'string' || renamedFrom !== name) return [];
  return [
    {
      code: 'renamed-from-itself',
      path: ['metadata', 'renamedFrom'],
      message: `"metadata.renamedFrom" of stack ${quoted(name)} is its own name`,
      fix: 'write the former name of the stack, or remove the line',
    },
  ];
}

function toStack(
  { metadata, spec }: StackDocument,
  reading: Pick<StackReading, 'document' | 'targets' | 'defaults' | 'manifests'>,
  { directory }: StackContext,
): Stack {
  const { name, renamedFrom } = metadata;
  return {
    name,
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
    file: reading.document.source.file,
    directory,
    manifests: reading.manifests.map(({ pattern }) => pattern),
    targets: reading.targets,
    defaults: reading.defaults,
    guards: (spec.guards ?? {}) as Guards,
    ...(spec.approvals === undefined ? {} : { approvals: spec.approvals }),
    ...(spec.policies === undefined ? {} : { policies: policySources(spec.policies) }),
    ...(spec.lint === undefined ? {} : { lint: spec.lint }),
    ...(spec.secrets === undefined ? {} : { secrets: { env: [], files: [], ...spec.secrets } }),
    ...(spec.ledger === undefined ? {} : { ledger: readLedgerPlace(spec.ledger) }),
    ...(spec.audit === undefined ? {} : { audit: { archive: readArchivePlace(spec.audit.archive) } }),
    ...timeoutOf(spec.timeout),
    ...(spec.embedded === undefined ? {} : { embedded: spec.embedded }),
  };
}

function policySources({ files, from }: NonNullable<StackDocument['spec']['policies']>): PolicySource[] {
  return [...(files === undefined ? [] : [{ files }]), ...(from === undefined ? [] : [{ git: from.git }])];
}

/** @param written valid against the stack's schema */
function readArchivePlace(written: ArchiveDocument): ArchivePlace {
  if (written === 'postgres') return { in: 'postgres', url: archiveUrl };
  if (written.file !== undefined) return { in: 'file', file: written.file };
  // the schema allows exactly one member, both here and in the source
  return { in: 'postgres', url: written.postgres?.url as SecretSource };
}

function timeoutOf(text = ''): Pick<Stack, 'timeout'> {
  const timeout = parseDuration(text);
  return timeout === undefined || timeout === 0 ? {} : { timeout };
}

function explainContextOf(document: YamlDocument, context: StackContext, schema: JsonObject): ExplainContext {
  return {
    base: [],
    schema,
    typed: (path) => typedText(document, path),
    field: () => undefined,
    isSecret: (path) => holdsSecret(path, context.secrets),
    absent: 'unmanaged',
  };
}

function documentPlaces(document: YamlDocument, { secrets }: StackContext): DocumentPlaces {
  return {
    place: (path, side) => placeIn(document, path, side),
    fromDefaults: () => false,
    isSecret: (path) => holdsSecret(path, secrets),
  };
}

/** Whether a value must not be shown: URLs may hold a password, even if they are not well formed. */
function holdsSecret(path: Path, secrets: ReadonlySet<string>): boolean {
  const [section, list, , field] = path;
  const isTargetUrl = section === 'spec' && list === 'targets' && field === 'url';
  return leadsToSecret(path, secrets) || isTargetUrl || isBelow(path, ['spec', 'ledger']);
}

/** Checks defaults against the schemas of kinds; fields may be missing, because defaults are only a part of a spec. */
function checkDefaults(
  { kinds, path }: DefaultsEntry,
  { document, context }: { readonly document: YamlDocument; readonly context: StackContext },
): Problem[] {
  return Object.entries(kinds).flatMap(([name, value]) => {
    const base = [...path, name];
    const kind = context.kinds.get(name);
    if (kind === undefined) return [unknownKind(base, name, context.kinds)];
    const schema = partialSpecSchema(kind);
    const errors = compileSchema(kind.specSchema, () => schema)(value);
    return explainErrors(errors, {
      ...explainContextOf(document, context, schema),
      base,
      spellings: serviceSpellings(context.dialects),
      absent: kind.absent,
      field: (at) => (at.length === base.length + 1 ? kind.fields[at[base.length] ?? ''] : undefined),
    });
  });
}

function unknownKind(path: Path, name: string, kinds: Registry): Problem {
  const meant = nearestWord(name, kinds.keys());
  return {
    code: 'unknown-kind',
    path,
    side: 'key',
    message: `${quoted(name)} in "spec.defaults" is not a kind`,
    allowed: orList([...kinds.keys()].map(quotedMasked)),
    ...(meant === undefined ? {} : { fix: `did you mean ${quoted(meant)}?` }),
  };
}

/** "none" together with a method would make the method useless. */
function checkAccepted(written: Json | undefined): Problem[] {
  const accept = memberOf(written, 'accept');
  if (!Array.isArray(accept) || !accept.includes('none') || accept.length === 1) return [];
  return [
    {
      code: 'approvals-not-needed',
      path: ['spec', 'approvals', 'accept'],
      message: '"none" stands beside other methods, so that no approval would be needed',
      fix: 'remove "none", or the other methods',
    },
  ];
}

function repeatedNames(targets: readonly Json[]): Problem[] {
  const names = targets.map((target) => (isJsonObject(target) ? target['name'] : undefined));
  const path = (index: number) => ['spec', 'targets', `${index}`, 'name'];
  return names.flatMap((name, index) => {
    const first = names.indexOf(name);
    if (typeof name !== 'string' || first === index) return [];
    return [
      {
        code: 'duplicate',
        path: path(index),
        message: `two targets are called ${quoted(name)}`,
        fix: 'give one of them another name',
        related: [{ message: 'first here', path: path(first) }],
      },
    ];
  });
}

/** A map by kind counts as a list with one entry. */
function readDefaults(value: Json | undefined): readonly DefaultsEntry[] {
  const path = ['spec', 'defaults'];
  if (!Array.isArray(value)) return isJsonObject(value) ? [{ kinds: readKinds(value), path }] : [];
  return value.flatMap((entry: Json, index) => {
    if (!isJsonObject(entry)) return [];
    const { match, ...kinds } = entry;
    const written = isJsonObject(match) ? { match: readMatch(match) } : {};
    return [{ ...written, kinds: readKinds(kinds), path: [...path, `${index}`] }];
  });
}

function readKinds(value: JsonObject): DefaultsEntry['kinds'] {
  return Object.fromEntries(
    Object.entries(value).flatMap(([kind, spec]) => (isJsonObject(spec) ? [[kind, spec] as const] : [])),
  );
}

/** Reads even a wrong `match`, which is reported elsewhere: without a match, the entry would apply to all manifests. */
function readMatch({ name, target, project, tags }: JsonObject): DefaultsMatch {
  const patterns = (one: Json): string[] => (Array.isArray(one) ? one : [one]).map(String);
  return {
    ...(name === undefined ? {} : { name: patterns(name) }),
    ...(target === undefined ? {} : { target: patterns(target) }),
    ...(project === undefined ? {} : { project: patterns(project) }),
    ...(isJsonObject(tags)
      ? { tags: Object.fromEntries(Object.entries(tags).map(([key, one]) => [key, patterns(one)])) }
      : {}),
  };
}

function objectIn(value: Json, name: string): JsonObject | undefined {
  const member = memberOf(value, name);
  return isJsonObject(member) ? member : undefined;
}

/** The valid patterns. @param broken the problems that the schema found in the stack */
function patternsIn(value: Json | undefined, broken: readonly Problem[]): ManifestPattern[] {
  const items = Array.isArray(value) ? value : [];
  return items.flatMap((item, index) => {
    const at = ['spec', 'manifests', `${index}`];
    const [pattern, path] = isJsonObject(item) ? [item['pattern'], [...at, 'pattern']] : [item, at];
    if (typeof pattern !== 'string' || broken.some((problem) => isBelow(problem.path, path))) return [];
    return [{ pattern, optional: isJsonObject(item) && item['optional'] === true, path }];
  });
}

function isBelow(path: Path, parent: Path): boolean {
  return parent.every((name, index) => path[index] === name);
}
