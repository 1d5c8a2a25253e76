/** The tarball of npm without the scripts of its package.json: an installation has none to run, or to allow. */
import { gunzipSync, gzipSync } from 'node:zlib'

const blockBytes = 512

/** @param tarball as `npm pack` has written it. Equal tarballs become equal again */
export function withoutScripts(tarball: Buffer): Buffer {
  const tar = gunzipSync(tarball)
  for (let start = 0; start < tar.length; ) {
    const header = Buffer.from(tar.subarray(start, start + blockBytes))
    const size = Number.parseInt(header.toString('latin1', 124, 135), 8) || 0
    const end = start + blockBytes + blocksOf(size)
    if (/^package\/package\.json\0/.test(header.toString('latin1', 0, 100))) {
      const { scripts: _, ...manifest } = JSON.parse(
        tar.toString('utf8', start + blockBytes, start + blockBytes + size),
      )
      const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
      const content = Buffer.alloc(blocksOf(text.length))
      text.copy(content)
      return gzipSync(
        Buffer.concat([tar.subarray(0, start), headerOf(header, text.length), content, tar.subarray(end)]),
        { level: 9 },
      )
    }
    start = end
  }
  throw new Error('The tarball has no package.json')
}

const blocksOf = (bytes: number) => Math.ceil(bytes / blockBytes) * blockBytes

/** With another size. The checksum is that of the header with spaces in its own place. */
function headerOf(header: Buffer, size: number): Buffer {
  header.write(size.toString(8).padStart(11, '0'), 124, 'latin1')
  header.fill(' ', 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}
