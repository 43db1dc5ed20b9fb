import Foundation
import PushCore

extension TrialSite {
    /// Writes the key and the settings that the processes of the site use.
    ///
    /// - Parameter database: The database if it is not the site's own.
    func writeSettings(database: String? = nil, children: Int) throws -> Settings {
        var settings = Settings()
        settings.database.url = database ?? self.database
        settings.credentialKeyFile = host.keyFile
        settings.mta.workingPath = host.journalFolder
        settings.mta.master.maxSpareServers = children
        settings.mta.master.startSpareServers = children
        try host.write(settings)
        return settings
    }

    /// Starts the supervisor with the site's settings; it starts its children when there is work.
    func startSupervisor() async throws {
        try await host.start()
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
