/**
 * Turns a schema's errors into problems that users understand: one for each mistake, at the field that has it, with what was
 * found, what is allowed and a likely fix. The messages of the validator are never shown.
 */
import { orList, counted, quoted } from '../model/quoted.ts';
import type { JsonObject, Path } from '../model/json.ts';
import { compileSchema, alternativeFields, groupErrors, type SchemaError } from './schema/compile-schema.ts';
import { describeAllowed, describeFound, explainWrongType, wordOf } from './explain-type.ts';
import { isPlainName } from './yaml/hidden-parts.ts';
import { typedText, type YamlDocument } from './yaml/yaml-document.ts';
import { type ExplainContext, pathText, type Problem, quotedMasked, suggestField } from './problem.ts';
import { nearestWord } from '../model/nearest-word.ts';

/** For an unknown field, the message lists the allowed fields, up to this number. */
const maxNamed = 10;

export function explainErrors(errors: readonly SchemaError[], context: ExplainContext): Problem[] {
  const grouped = groupErrors(errors);
  const mistyped = new Set(
    grouped.flatMap((error) => (error.keyword === 'type' ? [error.instancePath] : [])),
  );
  const problems = grouped
    .filter(({ keyword, instancePath }) => keyword === 'type' || !mistyped.has(instancePath))
    .map((error) => explain(error, context));
  return problems.filter((problem) => !isExplained(problem, problems));
}

/**
 * The mistakes of a document that is neither a manifest nor a stack file, so that it has no fields of a kind and no secrets.
 * @param owner of the schema, as for `compileSchema`
 */
export function documentProblems(document: YamlDocument, owner: object, schema: JsonObject): Problem[] {
  return explainErrors(compileSchema(owner, () => schema)(document.value), {
    base: [],
    schema,
    typed: (path) => typedText(document, path),
    field: () => undefined,
    isSecret: () => false,
    absent: 'unmanaged',
  });
}

/** Whether a field is missing because it was misspelt or put elsewhere; that mistake has its own problem. */
function isExplained(problem: Problem, problems: readonly Problem[]): boolean {
  return (
    problem.code === 'missing-field' &&
    problems.some(
      ({ meant }) => meant !== undefined && problem.path.every((name, index) => meant[index] === name),
    )
  );
}

function explain(error: SchemaError, context: ExplainContext): Problem {
  const at = [...context.base, ...toPath(error.instancePath)];
  const explainer = explainers[error.keyword];
  return explainer === undefined ? invalid(error, at) : explainer(error, at, context);
}

type Explainer = (error: SchemaError, at: Path, context: ExplainContext) => Problem;

const explainers: Readonly<Record<string, Explainer>> = {
  additionalProperties: unknownField,
  unevaluatedProperties: unknownField,
  required: missingField,
  dependentRequired: missingCompanion,
  type: explainWrongType,
  anyOf: explainWrongType,
  oneOf: (error, at, context) => wrongChoice(error, at) ?? explainWrongType(error, at, context),
  enum: notAllowed,
  const: notAllowed,
  not: forbidden,
  pattern: malformed,
  format: malformed,
  minLength: tooShort,
  maxLength: (error, at) => ({
    code: 'too-long',
    path: at,
    message: `${quoted(pathText(at))} is too long`,
    found: `${[...String(error.data)].length} characters`,
    allowed: `at most ${error.params['limit']}`,
  }),
  minItems: wrongCount,
  maxItems: wrongCount,
  minProperties: wrongCount,
  maxProperties: wrongCount,
  uniqueItems: repeated,
  minimum: outOfRange,
  maximum: outOfRange,
  exclusiveMinimum: outOfRange,
  exclusiveMaximum: outOfRange,
};

function unknownField(
  error: SchemaError,
  at: Path,
  { schema, spellings, isSecret }: ExplainContext,
): Problem {
  const name = String(error.params['additionalProperty'] ?? error.params['unevaluatedProperty']);
  const known = Object.keys(properties(error));
  const allowed =
    known.length > 0 && known.length <= maxNamed ? { allowed: orList(known.map(quotedMasked)) } : {};
  const suggestion = suggestField(name, at, { known, schema, spellings });
  if (isSecret(at) && suggestion.fix === undefined && !isPlainField(name, error.data))
    return {
      code: 'unknown-field',
      path: at,
      message: `${quoted(pathText(at))} holds something that is not one of its fields`,
      ...allowed,
    };
  return {
    code: 'unknown-field',
    path: [...at, name],
    side: 'key',
    message: `there is no field ${quoted(name)} ${at.length === 0 ? 'at the top level' : `in ${quoted(pathText(at))}`}`,
    ...allowed,
    ...suggestion,
  };
}

function isPlainField(name: string, map: unknown): boolean {
  const value = (map as Readonly<Record<string, unknown>>)[name];
  return value !== null && isPlainName(name);
}

function missingField(error: SchemaError, at: Path): Problem {
  const name = String(error.params['missingProperty']);
  const schema = properties(error)[name];
  const constant = (schema as { const?: string } | undefined)?.const;
  const allowed = describeAllowed(schema);
  return {
    code: 'missing-field',
    path: [...at, name],
    side: 'key',
    message: `${quoted(pathText([...at, name]))} is missing`,
    ...(allowed === '' ? {} : { allowed }),
    fix: `add ${quoted(constant === undefined ? name : `${name}: ${constant}`)}`,
  };
}

function missingCompanion(error: SchemaError, at: Path): Problem {
  const [name, missing] = [String(error.params['property']), String(error.params['missingProperty'])];
  return {
    code: 'missing-field',
    path: [...at, name],
    side: 'key',
    message: `${quoted(pathText([...at, name]))} needs ${quoted(missing)} beside it`,
    fix: `add ${quoted(missing)}, or remove ${quoted(name)}`,
  };
}

function notAllowed(error: SchemaError, at: Path, { typed }: ExplainContext): Problem {
  const values = [error.params['allowedValues'] ?? error.params['allowedValue']].flat();
  const words = values.filter((value) => typeof value === 'string');
  const meant = typeof error.data === 'string' ? nearestWord(error.data, words) : undefined;
  const only = values.length === 1 ? wordOf(values[0]) : undefined;
  return {
    code: 'not-allowed',
    path: at,
    message: `${quoted(pathText(at))} cannot have this value`,
    found: describeFound(error.data, typed(at)),
    allowed: orList(values.map(wordOf)),
    ...(meant !== undefined && only === undefined ? { fix: `did you mean ${quoted(meant)}?` } : {}),
    ...(only === undefined ? {} : { fix: `write ${only}` }),
  };
}

function forbidden(error: SchemaError, at: Path): Problem {
  const description = schemaText(error, 'description');
  return {
    code: 'not-allowed',
    path: at,
    side: 'key',
    message: description ?? `${quoted(pathText(at))} is not allowed here`,
    fix: `remove ${quoted(at.at(-1) ?? '')}`,
  };
}

const formatWords: Readonly<Record<string, string>> = {
  'date-time': 'a date and time with time zone, such as 2026-01-31T08:00:00Z',
  date: 'a date, such as 2026-01-31',
  uri: 'a URL',
  regex: 'a regular expression',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  email: 'an e-mail address',
};

function malformed(error: SchemaError, at: Path, { isSecret }: ExplainContext): Problem {
  const format = String(error.params['format'] ?? '');
  const property = error.propertyName;
  const meant = isSecret(at)
    ? undefined
    : wellFormed(String(property ?? error.data), error.params['pattern']);
  const allowed =
    schemaText(error, 'patternErrorMessage') ??
    formatWords[format] ??
    schemaText(error, 'description') ??
    `a text that matches ${String(error.params['pattern'] ?? format)}`;
  return {
    code: 'pattern',
    path: property === undefined ? at : [...at, property],
    ...(property === undefined ? {} : { side: 'key' as const }),
    message: `${quoted(pathText(property === undefined ? at : [...at, property]))} is not well formed`,
    found: describeFound(property ?? error.data),
    allowed,
    ...(meant === undefined ? {} : { fix: `write ${quoted(meant)}` }),
  };
}

/** The text changed so that it matches the pattern: when only spaces or capitals are wrong, or the pattern allows just one word. */
function wellFormed(text: string, pattern: unknown): string | undefined {
  if (typeof pattern !== 'string') return undefined;
  const only = /^\^([\w-]+)\$$/.exec(pattern)?.[1];
  const hyphened = text.trim().replace(/\s+/g, '-');
  const fits = new RegExp(pattern, 'u');
  return only ?? [hyphened, hyphened.toLowerCase()].find((word) => fits.test(word));
}

function tooShort(error: SchemaError, at: Path): Problem {
  const empty = error.data === '' || error.propertyName === '';
  return {
    code: empty ? 'empty' : 'too-short',
    path: at,
    message: `${quoted(pathText(at))} is ${empty ? 'empty' : 'too short'}`,
    allowed: `at least ${counted(Number(error.params['limit']), 'character')}`,
  };
}

function wrongCount(error: SchemaError, at: Path): Problem {
  const { parentSchema } = error;
  const few = error.keyword.startsWith('min');
  if (parentSchema?.['minProperties'] === 1 && parentSchema['maxProperties'] === 1) {
    const members = orList(Object.keys(properties(error)).map(quotedMasked));
    return {
      code: few ? 'too-few' : 'too-many',
      path: at,
      side: 'key',
      message: `${quoted(pathText(at))} must have exactly one member`,
      allowed: members,
      fix: few ? `add ${members}` : 'keep one of them',
    };
  }
  return {
    code: few ? 'too-few' : 'too-many',
    path: at,
    message: `${quoted(pathText(at))} has too ${few ? 'few' : 'many'} members`,
    found: `${Object.keys(error.data ?? {}).length}`,
    allowed: `at ${few ? 'least' : 'most'} ${error.params['limit']}`,
  };
}

/** The problem if exactly one of several fields must be set; undefined for other alternatives. */
function wrongChoice(error: SchemaError, at: Path): Problem | undefined {
  const fields = alternativeFields(error);
  if (fields === undefined) return undefined;
  const given = fields.filter((name) => Object.hasOwn(error.data ?? {}, name));
  const names = fields.map(quoted);
  const tooMany = given.length > 1;
  return {
    code: tooMany ? 'too-many' : 'missing-field',
    path: tooMany ? [...at, given.at(-1) ?? ''] : at,
    side: 'key',
    message: `${quoted(pathText(at))} must have exactly one of ${names.join(' and ')}`,
    fix: tooMany ? 'keep one of them' : `add ${orList(names)}`,
  };
}

function repeated(error: SchemaError, at: Path, { typed }: ExplainContext): Problem {
  const [one, other] = [Number(error.params['i']), Number(error.params['j'])];
  const [first, again] = [`${Math.min(one, other)}`, `${Math.max(one, other)}`];
  return {
    code: 'repeated',
    path: [...at, again],
    message: `${quoted(pathText([...at, again]))} repeats a member of ${quoted(pathText(at))}`,
    ...(typed([...at, again]) === undefined ? {} : { found: quotedMasked(typed([...at, again]) ?? '') }),
    fix: 'remove it',
    related: [{ message: 'first here', path: [...at, first] }],
  };
}

function outOfRange(error: SchemaError, at: Path, { typed }: ExplainContext): Problem {
  const bounds: Readonly<Record<string, string>> = {
    '>=': 'at least',
    '<=': 'at most',
    '>': 'more than',
    '<': 'less than',
  };
  return {
    code: 'out-of-range',
    path: at,
    message: `${quoted(pathText(at))} is out of range`,
    found: describeFound(error.data, typed(at)),
    allowed: `${bounds[String(error.params['comparison'])]} ${error.params['limit']}`,
  };
}

function invalid(error: SchemaError, at: Path): Problem {
  const allowed = schemaText(error, 'description');
  return {
    code: 'not-allowed',
    path: at,
    message: `${quoted(pathText(at))} cannot have this value`,
    found: describeFound(error.data),
    ...(allowed === undefined ? {} : { allowed }),
  };
}

function schemaText(error: SchemaError, keyword: string): string | undefined {
  const text = error.parentSchema?.[keyword];
  return typeof text === 'string' ? text : undefined;
}

function properties(error: SchemaError): Readonly<Record<string, unknown>> {
  return error.parentSchema?.['properties'] ?? {};
}

/** A JSON pointer (RFC 6901) as a path. */
function toPath(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}
