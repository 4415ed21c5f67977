import { expect, it } from 'vitest';
import { tagBindings as kind } from '../../../src/kinds/tag-bindings/index.ts';
import type { Json } from '../../../src/model/json.ts';
import type { Answer } from '../../../src/model/http.ts';
import { changeOf, declare, planFor } from '../../support/services/workspaces/plan-organization.ts';

function callOf(dialect: string) {
  const declared = [
    declare('Workspace', 'app'),
    declare('TagBindings', 'app', { tags: { env: 'prod', team: 'network' } }),
  ];
  const plan = planFor({ declared, live: [{ name: 'app' }], dialect });
  const [call] = changeOf(plan, 'TagBindings/acme/app').calls;
  if (call === undefined) throw new Error('no call');
  return call;
}

function answerWith(data: Json): Answer {
  return { method: 'PATCH', url: '', status: 200, body: { data }, words: '' };
}

it('An addition of tags returns the bindings, and the ownership tag is not one of the set', () => {
  const binding = (key: string, value: string) => ({ type: 'tag-bindings', attributes: { key, value } });
  const data = [binding('env', 'test'), binding('trueup-stack', 'payments')];
  expect(kind.fieldsFromResponse?.(callOf('hcp-terraform'), answerWith(data))).toEqual({
    about: ['tags'],
    spec: { tags: { env: 'test' } },
  });
  expect(kind.fieldsFromResponse?.(callOf('hcp-terraform'), answerWith(null))).toBeUndefined();
});

it('A replacement returns a document of the workspace, without information about tags', () => {
  const document = { id: 'ws-app', type: 'workspaces', attributes: { name: 'app' } };
  expect(kind.fieldsFromResponse?.(callOf('neutral'), answerWith(document))).toBeUndefined();
});
