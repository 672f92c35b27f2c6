import { describe, expect, it } from 'vitest';

import { networkUseOf } from './network-use.ts';

describe('networkUseOf', () => {
  it.each([
    'curl -sf https://example.org',
    '/usr/bin/wget x',
    'env A=1 timeout 5 curl x',
    "sh -c 'curl x'",
    'echo $(curl x)',
    'if curl x; then true; fi',
    'git clone https://example.org/r.git',
    'git -c a=b fetch origin',
    'npm install',
    'npm ci --ignore-scripts',
    'npm --silent ci',
    'yarn',
    'yarn install',
    'pnpm dlx x',
    'pip install x',
    'pip3 install -r requirements.txt',
    'python3 -m pip install x',
    'uvx ruff',
    'npx --no-install playwright install chromium',
    'corepack pnpm install',
    'huggingface-cli download a/b',
    'OPENAI_API_KEY=x node score.js',
    'uv sync',
    'apt-get install -y jq',
    'nc -z host 80',
    'cat < /dev/tcp/1.2.3.4/80',
    'go get x',
    'cargo install x',
    'node -e \'fetch("https://example.org")\'',
    'node -e \'require("https").get(u)\'',
    "python3 -c 'import requests'",
    'node -e \'import("node:https").then((h) => h.get(u))\'',
    'node --input-type=module -e \'import h from "https"\'',
    'sh <<EOF\ncurl x\nEOF',
    "echo 'curl x' | sh",
    'sudo curl x',
    'cat urls | xargs -n 1 curl',
    'find . -name "*.url" -exec wget {} +',
    'deno run --allow-net https://example.org/x.ts',
    '/opt/bin/curl x',
  ])('finds one in %j', (command) => {
    expect(networkUseOf(command)).not.toBeNull();
  });

  it.each([
    'npm ci --offline --ignore-scripts',
    'npm test',
    'npm run install-check',
    'npx --no-install eslint .',
    'npx',
    'npx --yes',
    'npx playwright test',
    "grep -rn 'OPENAI_API_KEY' src",
    'pip install --no-index --find-links "$KERVYXA_DEPS" x',
    'git diff --exit-code',
    'git --version',
    'curl --version',
    'node curl.js',
    'grep -q curl README.md',
    "grep -q 'npm install' README.md",
    'echo "npm install"',
    'node -e \'fetch("http://127.0.0.1:8080")\'',
    'cargo build --offline',
    'go test ./...',
    'go install ./cmd/...',
    'pip install --no-deps --no-build-isolation -e .',
    'grep -e "fetch(" src/x.js',
    'grep -c urlopen x.py',
    'node -e \'require("./cache.js").fetch("k")\'',
    './host',
    'scripts/http start',
    'node check.js https://example.org',
  ])('finds none in %j', (command) => {
    expect(networkUseOf(command)).toBeNull();
  });

  it.each(['npm ci', 'npm ci --ignore-scripts', 'npm install', 'pip install -r requirements.txt'])(
    'lets %j install from a bundle, whose configuration keeps it offline',
    (command) => {
      expect(networkUseOf(command)).not.toBeNull();
      expect(networkUseOf(command, { hasBundle: true })).toBeNull();
    },
  );

  it.each(['pnpm install', 'yarn', 'npm audit', 'curl x', 'npm ci && curl x'])(
    'lets no bundle excuse %j',
    (command) => {
      expect(networkUseOf(command, { hasBundle: true })).not.toBeNull();
    },
  );
});
