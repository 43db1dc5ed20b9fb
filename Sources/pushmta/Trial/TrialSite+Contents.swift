import Foundation
import PushCore
import Store

extension TrialSite {
    /// Refuses to take from people what they have put into a site: a new run ends its processes and makes its database anew.
    ///
    /// - Parameter fresh: whether that is what they ask for.
    /// - Throws: `CommandFailure` that says what is there and what can be done.
    func requireSampleOnly(_ sample: TrialContents, fresh: Bool) async throws {
        try requireOwnSettings()
        guard !fresh else { return }
        let running = [simulator, supervisor, web, feedback].filter { $0.running != nil }.map(\.name)
        guard running.isEmpty else {
            throw CommandFailure(
                .temporary,
                "A site is up in \(folder) (\(running.joined(separator: ", "))): a new run would end it and delete its database with all that was added to it. `./Deploy/quickstart stop --folder \(folder)` ends it and keeps its data, --folder OTHER makes another site beside it, and --fresh starts over."
            )
        }
        let found = try await contents(besides: sample)
        guard !found.isEmpty else { return }
        throw CommandFailure(
            .data,
            "The database of the site in \(folder) holds more than the sample: \(found.joined(separator: ", ")). A new run would delete it: --folder OTHER makes another site beside it, and --fresh starts over. The site as it is comes up again with the commands that read \(settingsFile)."
        )
    }

    /// Settings of another installation stand for journals that must not go.
    private func requireOwnSettings() throws {
        guard let text = try? String(contentsOfFile: settingsFile, encoding: .utf8), !text.contains(cluster.folder)
        else {
            return
        }
        throw CommandFailure(
            .data,
            "\(settingsFile) is not the settings file of a site of quickstart, which would write over it and clear the journals beside it: choose another --folder."
        )
    }

    /// What the database holds besides the sample; the server runs afterwards only if it did before, or if there is nothing.
    private func contents(besides sample: TrialContents) async throws -> [String] {
        guard FileManager.default.fileExists(atPath: cluster.data + "/PG_VERSION") else { return [] }
        let wasRunning = await cluster.isRunning()
        try await cluster.start()
        do {
            var settings = Settings()
            settings.database.url = database
            let configuration = StoreSession.configuration(settings, role: "quickstart")
            let found = try await Store.contents(besides: sample, configuration)
            if !found.isEmpty, !wasRunning { try await cluster.stop() }
            return found
        } catch {
            if !wasRunning { try? await cluster.stop() }
            throw error
        }
    }
}
