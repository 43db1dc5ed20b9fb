import ArgumentParser
import Foundation
import Logging
import PushCore
import Store
import Supervisor
import UnixSignals

/// `pushmta supervisor run`: the process that prepares deliveries and runs the MTA children of one host.
struct SupervisorRunCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the supervisor of this host.",
        discussion: """
            SIGTERM or SIGINT: drain and end, sent again: end at once. SIGHUP: read the settings again and replace the children \
            one by one. Exit status 75: another supervisor has the folder mta.workingPath.
            """
    )

    @OptionGroup var global: GlobalOptions

    func execute(_ loaded: LoadedSettings) async throws {
        let settings = loaded.values
        try OpenFiles.check("supervisor", OpenFiles.supervisor(settings))
        global.exportFlags()
        let global = global
        let supervisor = Supervisor(
            settings: Self.settings(loaded, global),
            connect: { role in
                let limit = Store.lockTimeoutMilliseconds
                return try await Store.connect(
                    StoreSession.configuration(settings, role: role, lockTimeoutMilliseconds: limit)
                )
            },
            reload: {
                let loaded = try await global.load()
                try OpenFiles.check("supervisor", OpenFiles.supervisor(loaded.values))
                return Self.settings(loaded, global)
            },
            logger: ProcessLog.logger("supervisor", settings)
        )
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        let watcher = Task {
            for await signal in signals {
                if signal == .sighup { supervisor.reload() } else { supervisor.drain() }
            }
        }
        defer { watcher.cancel() }
        try await supervisor.run()
    }

    private static func settings(_ loaded: LoadedSettings, _ global: GlobalOptions) -> SupervisorSettings {
        SupervisorSettings(
            loaded.values,
            globalOptions: loaded.file.map { ["--config", $0] } ?? [],
            hostName: ProcessInfo.processInfo.hostName,
            version: ProductVersion.text
        )
    }
}
