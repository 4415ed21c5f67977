/**
 * What the service's framework does around every operation on a mount: a request's parameters are checked against the
 * fields of its path, and an answer that says anything says also which of them counted for nothing (wire/cluster-auth 2.1).
 */
import { type SecretsAnswer, answerError, answerWrappedError } from './answer.ts';
import type { MountEndpoint } from './endpoints.ts';
import type { MountCall, Operation } from './mount-call.ts';
import { readFields } from './values/field-coercion.ts';

/** Carries out an operation that the caller may do. */
export function serveEndpoint(endpoint: MountEndpoint, operation: Operation, call: MountCall): SecretsAnswer {
  const handler = endpoint.handlers[operation];
  if (handler === undefined) return answerWrappedError(405, 'unsupported operation');
  // A write checks its own fields: what a refusal says, and when, differs from path to path.
  const checked = operation === 'write' ? undefined : readFields(fieldsOf(endpoint, call), call.body);
  if (checked?.ok === false) return answerError(400, `Field validation failed: ${checked.problem}`);
  return withWarnings(handler(call), parameterWarnings(endpoint, call));
}

function fieldsOf(endpoint: MountEndpoint, { services }: MountCall): ReturnType<MountEndpoint['fields']> {
  return endpoint.fields(services.dialects.clusterAuth);
}

function parameterWarnings(endpoint: MountEndpoint, call: MountCall): string[] {
  const fields = fieldsOf(endpoint, call);
  const sent = Object.keys(call.body);
  const captured = call.roleName === '' ? [] : ['name'];
  const ignored = sent.filter((name) => !captured.includes(name) && !Object.hasOwn(fields, name)).toSorted();
  const replaced = captured.filter((name) => (call.body[name] ?? null) !== null);
  return [
    ...(ignored.length > 0 ? [`Endpoint ignored these unrecognized parameters: [${ignored.join(' ')}]`] : []),
    ...(replaced.length > 0
      ? [
          'Endpoint replaced the value of these parameters with the values captured from the ' +
            `endpoint's path: [${replaced.join(' ')}]`,
        ]
      : []),
  ];
}

/** Only an answer with something in it takes warnings: a bare 204 stays one, and so does an error. */
function withWarnings(answer: SecretsAnswer, more: readonly string[]): SecretsAnswer {
  if (!('data' in answer) || more.length === 0) return answer;
  return { ...answer, warnings: [...(answer.warnings ?? []), ...more] };
}
