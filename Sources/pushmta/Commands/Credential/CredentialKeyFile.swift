import Foundation
import PushCore

/// The file with the key under which credentials are sealed.
enum CredentialKeyFile {
    /// Makes a file with a new key, readable by its owner only. Never overwrites one.
    static func create(at path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure(
                .data,
                "\(path) exists already: credentials may be sealed under the key in it. Name another file, or remove it yourself."
            )
        }
        let text = Data((CredentialCipher.newKeyText() + "\n").utf8)
        let made = FileManager.default.createFile(atPath: path, contents: text, attributes: [.posixPermissions: 0o600])
        guard made else {
            throw CommandFailure(.data, "\(path) cannot be written: check its folder and your rights there.")
        }
    }

    /// The cipher of the key in the settings' file.
    static func cipher(_ settings: Settings) throws -> CredentialCipher {
        let path = settings.credentialKeyFile
        guard !path.isEmpty else {
            throw CommandFailure(
                .configuration,
                "The setting credentialKeyFile is empty: make a key with `pushmta credential create-key FILE` and name the file there."
            )
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandFailure(
                .configuration,
                "The key file \(path) (setting credentialKeyFile) cannot be read: check that it exists and is readable for you."
            )
        }
        do {
            return try CredentialCipher(keyText: text)
        } catch {
            throw CommandFailure(.configuration, "\(path): \(error)")
        }
    }
}
