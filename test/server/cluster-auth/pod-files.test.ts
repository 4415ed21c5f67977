import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openPodFiles } from '../../../src/server/kernel/services.ts';

let folder: string;
let time: number;
const now = () => new Date(time);
const writePodFile = (name: string, text: string) => writeFileSync(join(folder, name), text);

beforeEach(() => {
  time = Date.parse('2026-01-01T00:00:00Z');
  folder = mkdtempSync(join(tmpdir(), 'trueup-pod-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

describe('the files of a pod', () => {
  it('are read again when they are old: the token after a minute, the CA after an hour', () => {
    writePodFile('token', 'first');
    writePodFile('ca.crt', 'first');
    const pod = openPodFiles(folder, now);
    expect([pod.token(), pod.caCert()]).toEqual([{ text: 'first' }, { text: 'first' }]);
    writePodFile('token', 'second');
    writePodFile('ca.crt', 'second');
    time += 59_999;
    expect([pod.token(), pod.caCert()]).toEqual([{ text: 'first' }, { text: 'first' }]);
    time += 1;
    expect([pod.token(), pod.caCert()]).toEqual([{ text: 'second' }, { text: 'first' }]);
    time += 3_540_000;
    expect(pod.caCert()).toEqual({ text: 'second' });
  });

  it('are read again immediately if they were missing', () => {
    const pod = openPodFiles(folder, now);
    const problem = `open ${join(folder, 'token')}: no such file or directory`;
    expect(pod.token()).toEqual({ problem });
    writePodFile('token', 'there');
    expect(pod.token()).toEqual({ text: 'there' });
  });

  it('cannot be read outside of a pod', () => {
    const pod = openPodFiles(undefined, now);
    expect(pod.token()).toEqual({
      problem: 'open /var/run/secrets/kubernetes.io/serviceaccount/token: no such file or directory',
    });
  });
});
