import Crypto
import Schema

/// A file of the schema.
struct SchemaFile: Sendable, Hashable {
    /// Its name without the folder.
    let name: String
    /// SQL.
    let text: String
    /// SHA-256 of its text, in hexadecimal: an applied file never changes.
    let checksum: String

    init(name: String, text: String) {
        self.name = name
        self.text = text
        checksum = SHA256.hash(data: Array(text.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}

/// One version of the schema: the first is the complete schema, each later one a change.
///
/// The SQL is in `Sources/Schema`. Until the first release, a change edits version 1 in place; a released version never
/// changes.
struct SchemaVersion: Sendable {
    /// Its number; versions are applied in order.
    let number: Int32
    /// Its files, run in this order in one transaction.
    let files: [SchemaFile]

    /// All versions that this program knows, in order.
    static let all: [SchemaVersion] = {
        var versions: [SchemaVersion] = []
        for index in Int32(0)... {
            let file = schema_file_at(index)
            guard file.version > 0, let name = file.name, let text = file.text else { break }
            let next = SchemaFile(name: String(cString: name), text: String(cString: text))
            if let last = versions.last, last.number == file.version {
                versions[versions.count - 1] = SchemaVersion(number: last.number, files: last.files + [next])
            } else {
                versions.append(SchemaVersion(number: file.version, files: [next]))
            }
        }
        return versions
    }()
}
