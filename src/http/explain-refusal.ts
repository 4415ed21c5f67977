/** Answers of a secrets service that are about the whole target, whatever was asked: each as one clause with what to do. */
import type { Target } from '../model/stack/target.ts';
import { type Answer, describeAnswer, isSealed } from '../model/wire.ts';
import { quoted } from '../model/quoted.ts';

/** Undefined for an answer that is about the request itself (wire/cluster-auth 2.1). */
export function explainRefusal({ namespace = '' }: Target, answer: Answer): string | undefined {
  const description = describeAnswer(answer);
  if (isSealed(answer))
    return `the service is sealed and answers nothing until somebody unseals it: ${description}`;
  if (answer.status === 503 && /\bnot active but active\b/i.test(answer.words))
    return `this node of the service is a standby and finds no active one, so try again later, or see to the cluster: ${description}`;
  if (answer.status === 404 && answer.words === 'namespace not found')
    return `there is no namespace ${quoted(namespace)}, so correct the target's "namespace": ${description}`;
  return undefined;
}
