import Foundation
import Gateways
import PushCore

/// The file with the key under which credentials are sealed.
enum CredentialKeyFile {
    /// Makes a file with a new key, readable by its owner only. Never overwrites one.
    static func create(at path: String) throws {
        try create(at: path, text: CredentialCipher.newKeyText() + "\n")
    }

    /// Makes a file with these keys, readable by its owner only. Never overwrites one.
    static func create(at path: String, text: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure(
                .data,
                "\(path) exists already: credentials may be sealed under the key in it. Name another file, or remove it yourself."
            )
        }
        let made = FileManager.default.createFile(
            atPath: path,
            contents: Data(text.utf8),
            attributes: [.posixPermissions: 0o600]
        )
        guard made else {
            throw CommandFailure(.data, "\(path) cannot be written: check its folder and your rights there.")
        }
    }

    /// Puts other keys into a file, in one step and with the owner and the rights that it has: whoever reads it finds the keys
    /// before or these.
    static func replace(_ path: String, text: String) throws {
        let manager = FileManager.default
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let temporary = target + ".new"
        let trouble = CommandFailure(
            .data,
            "\(path) cannot be written: check its folder and your rights there. Nothing has been changed."
        )
        guard let attributes = try? manager.attributesOfItem(atPath: target) else { throw trouble }
        let kept = attributes.filter {
            [.posixPermissions, .ownerAccountID, .groupOwnerAccountID].contains($0.key)
        }
        try? manager.removeItem(atPath: temporary)
        guard
            manager.createFile(
                atPath: temporary,
                contents: Data(text.utf8),
                attributes: [.posixPermissions: 0o600]
            ), (try? manager.setAttributes(kept, ofItemAtPath: temporary)) != nil, sync(temporary),
            rename(temporary, target) == 0
        else {
            try? manager.removeItem(atPath: temporary)
            throw trouble
        }
    }

    /// A key that were lost in a power cut would take what is sealed under it along.
    private static func sync(_ path: String) -> Bool {
        guard let file = FileHandle(forWritingAtPath: path) else { return false }
        defer { try? file.close() }
        return (try? file.synchronize()) != nil
    }

    /// The keys of the settings' file, or of systemd's credential.
    static func keyring(_ settings: Settings) throws -> CredentialKeyring {
        do {
            return try CredentialKeySource.load(settings, environment: ProcessInfo.processInfo.environment)
        } catch {
            throw CommandFailure(.configuration, "\(error)")
        }
    }
}
