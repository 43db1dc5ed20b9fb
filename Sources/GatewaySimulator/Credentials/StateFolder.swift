import Foundation

/// The folder in which the simulator keeps its CA and its sample credentials.
struct StateFolder: Sendable {
    let path: String

    /// Opens the folder, and makes it, for its owner only, when it is missing.
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
                "the state folder \(path) cannot be made (\(error.localizedDescription)): choose one that you may write to"
            )
        }
    }

    /// The path of a file in the folder.
    func file(_ name: String) -> String { path + "/" + name }

    /// The text of a file; nil when it is not there.
    func read(_ name: String) -> String? {
        FileManager.default.contents(atPath: file(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a file in one step; a secret one is for its owner only.
    func write(_ name: String, _ text: String, isSecret: Bool) throws(SimulatorError) {
        try Self.write(file(name), text, isSecret: isSecret)
    }

    /// Writes a file in one step: whoever reads the path sees the old contents or the new, never a part.
    static func write(_ path: String, _ text: String, isSecret: Bool) throws(SimulatorError) {
        try write(path, Data(text.utf8), isSecret: isSecret)
    }

    /// Writes a file of bytes in one step.
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
                "\(path) cannot be written: check that its folder exists, is writable and has room"
            )
        }
    }
}
