import Foundation

/// The folder in which the simulator keeps its CA and its sample credentials.
struct StateFolder: Sendable {
    let path: String

    /// Opens the folder. A missing one is created with access only for its owner.
    init(_ path: String) throws(SimulatorError) {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw SimulatorError(
                .stateFolder,
                "cannot create the state folder \(path) (\(error.localizedDescription)): choose a writable folder"
            )
        }
    }

    /// The path of a file in the folder.
    func file(_ name: String) -> String { path + "/" + name }

    /// The text of a file; nil if it does not exist.
    func read(_ name: String) -> String? {
        FileManager.default.contents(atPath: file(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a file atomically. Only its owner can read a secret one.
    func write(_ name: String, _ text: String, isSecret: Bool) throws(SimulatorError) {
        try Self.write(file(name), text, isSecret: isSecret)
    }

    /// Writes a file atomically: readers see the old or the new contents, never a part.
    static func write(_ path: String, _ text: String, isSecret: Bool) throws(SimulatorError) {
        try write(path, Data(text.utf8), isSecret: isSecret)
    }

    /// Writes bytes to a file atomically.
    static func write(_ path: String, _ contents: Data, isSecret: Bool) throws(SimulatorError) {
        let temporary = path + ".new"
        let manager = FileManager.default
        let permissions = isSecret ? 0o600 : 0o644
        try? manager.removeItem(atPath: temporary)
        guard
            manager.createFile(
                atPath: temporary,
                contents: contents,
                attributes: [.posixPermissions: permissions]
            ),
            rename(temporary, path) == 0
        else {
            throw SimulatorError(
                .stateFolder,
                "cannot write \(path): check that its folder exists, is writable and has free space"
            )
        }
    }
}
