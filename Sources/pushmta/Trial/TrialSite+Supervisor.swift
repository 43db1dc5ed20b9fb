import Foundation
import PushCore

extension TrialSite {
    /// Writes the key and the settings that the processes of the site use.
    ///
    /// - Parameter database: The database if it is not the site's own.
    /// - Parameter webPort: The port of the web process, on this machine only.
    func writeSettings(database: String? = nil, children: Int, webPort: Int? = nil) throws -> Settings {
        var settings = Settings()
        settings.database.url = database ?? self.database
        settings.credentialKeyFile = host.keyFile
        settings.mta.workingPath = host.journalFolder
        settings.mta.master.maxSpareServers = children
        settings.mta.master.startSpareServers = children
        if let webPort {
            settings.web.address = "127.0.0.1"
            settings.web.port = webPort
            settings.web.workingPath = folder + "/web"
            settings.web.accessLog = folder + "/log/access.log"
        }
        try host.write(settings)
        return settings
    }

    /// Starts the supervisor with the site's settings; it starts its children when there is work.
    func startSupervisor() async throws {
        try await host.start()
    }

    /// Starts the feedback worker with the site's settings.
    func startFeedback() async throws {
        try await host.start(feedback, "feedback")
    }

    /// Throws if one of the processes that were started has ended, with the end of its log.
    func checkProcesses(withDevices: Bool = false) throws {
        for process in [supervisor, simulator] + (withDevices ? [web, feedback] : []) where process.running == nil {
            throw CommandFailure(
                .software,
                "The \(process.name) has ended. Its log \(process.logFile) ends with:\n\(process.lastWords)"
            )
        }
    }
}
