import Foundation
import PushCore

extension TrialSite {
    /// Writes the key and the settings that the processes of the site use.
    ///
    /// - Parameter database: The database if it is not the site's own.
    func writeSettings(database: String? = nil, children: Int) throws -> Settings {
        if !FileManager.default.fileExists(atPath: keyFile) { try CredentialKeyFile.create(at: keyFile) }
        var settings = Settings()
        settings.database.url = database ?? self.database
        settings.credentialKeyFile = keyFile
        settings.mta.workingPath = journalFolder
        settings.mta.master.maxSpareServers = children
        settings.mta.master.startSpareServers = children
        try SettingsText.yaml(settings).write(toFile: settingsFile, atomically: true, encoding: .utf8)
        return settings
    }

    /// Starts the supervisor with the site's settings; it starts its children when there is work.
    func startSupervisor() async throws {
        // Settings of the caller's environment would reach the processes and override the site's.
        let inherited = ProcessInfo.processInfo.environment.keys.filter {
            $0.hasPrefix(SettingsLoader.environmentPrefix + "_")
        }
        try await supervisor.start(
            programs.pushmta,
            ["supervisor", "--config", settingsFile],
            environment: Dictionary(uniqueKeysWithValues: inherited.map { ($0, nil) })
        )
    }

    /// Throws if the supervisor or the simulator has ended, with the end of its log.
    func checkProcesses() throws {
        for process in [supervisor, simulator] where process.running == nil {
            throw CommandFailure(
                .software,
                "The \(process.name) has ended. Its log \(process.logFile) ends with:\n\(process.lastWords)"
            )
        }
    }
}
