import Administration
import Foundation
import PushCore

/// A PushMTA host on this machine: a folder with settings, key, journals and logs, and a supervisor.
struct TestHost: Sendable {
    let folder: String
    /// The host's programs.
    var programs: Executables
    /// The supervisor's process, which starts the children.
    var supervisor: BackgroundProcess
    /// A command that runs the supervisor, such as `ip netns exec NAME`; empty: it is started directly. The command
    /// must execute the supervisor (exec), so that signals reach it.
    var wrapper: [String] = []
    /// Environment variables for the supervisor and its children.
    var environment: [String: String] = [:]

    /// The processes' settings file.
    var settingsFile: String { folder + "/pushmta.yaml" }
    /// The key that seals the credentials.
    var keyFile: String { folder + "/credential.key" }
    var journalFolder: String { folder + "/journal" }

    /// A host in `folder`; nothing is created or started.
    init(folder: String, programs: Executables) {
        self.folder = folder
        self.programs = programs
        supervisor = BackgroundProcess(
            name: "supervisor",
            recordFile: folder + "/run/supervisor.pid",
            logFile: folder + "/log/supervisor.log"
        )
    }

    /// Creates missing folders.
    func makeFolders() throws {
        for part in ["", "/log", "/run", "/journal"] {
            try FileManager.default.createDirectory(atPath: folder + part, withIntermediateDirectories: true)
        }
    }

    /// Removes the journals, whose parts belong to a database that is about to be dropped.
    func clearJournals() throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: journalFolder) { try manager.removeItem(atPath: journalFolder) }
        try manager.createDirectory(atPath: journalFolder, withIntermediateDirectories: true)
    }

    /// Writes the processes' settings, and creates the key that they name if it does not exist.
    func write(_ settings: Settings) throws {
        if !FileManager.default.fileExists(atPath: settings.credentialKeyFile) {
            try CredentialKeyFile.create(at: settings.credentialKeyFile)
        }
        try SettingsText.yaml(settings).write(toFile: settingsFile, atomically: true, encoding: .utf8)
    }

    /// Starts the supervisor with the host's settings. It starts children when there is work.
    func start() async throws {
        try await start(supervisor, "supervisor")
    }

    /// Runs one of PushMTA's commands with the host's settings, and returns its output.
    func run(_ words: [String]) async throws -> String {
        try await ToolRun.run(programs.pushmta, words + ["--config", settingsFile], environment: variables)
    }

    /// The environment variables for a process; nil removes a variable.
    private var variables: [String: String?] {
        // Settings in the caller's environment would override the host's.
        let inherited = ProcessInfo.processInfo.environment.keys.filter {
            $0.hasPrefix(SettingsLoader.environmentPrefix + "_")
        }
        var variables: [String: String?] = Dictionary(uniqueKeysWithValues: inherited.map { ($0, nil) })
        for (name, value) in environment { variables[name] = value }
        return variables
    }

    /// Starts one of PushMTA's processes with the host's settings.
    func start(_ process: BackgroundProcess, _ subcommand: String) async throws {
        let command = wrapper + [programs.pushmta, subcommand, "--config", settingsFile]
        try await process.start(command[0], Array(command.dropFirst()), environment: variables)
    }
}

/// Formats settings as a file.
enum SettingsText {
    /// The settings that differ from their defaults, as YAML. Keys are nested; values are JSON, which is valid YAML.
    static func yaml(_ settings: Settings) -> String {
        let defaults = Settings()
        var open: [String] = []
        var lines: [String] = []
        for definition in Settings.definitions where definition.text(in: settings) != definition.text(in: defaults) {
            let parts = definition.components
            let shared = zip(open, parts.dropLast()).prefix { $0 == $1 }.count
            for depth in shared..<parts.count - 1 { lines.append(indentation(depth) + parts[depth] + ":") }
            open = Array(parts.dropLast())
            lines.append(indentation(parts.count - 1) + parts[parts.count - 1] + ": " + value(of: definition, settings))
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func indentation(_ depth: Int) -> String {
        String(repeating: "  ", count: depth)
    }

    private static func value(of definition: SettingDefinition, _ settings: Settings) -> String {
        let text = definition.text(in: settings)
        switch definition.access {
        case .integer, .flag: return text
        case .text, .choice, .timeOfDay: return JSONLine.quoted(text)
        }
    }
}
