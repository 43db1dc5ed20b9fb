import Foundation
import ProcessProtocol
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Processes that may open few files.
@Suite struct OpenFilesTests {
    /// Runs a command of the product with a limit set by the shell.
    private func run(_ limit: String, _ words: String) async throws -> Program.Ending {
        let folder = try TemporaryFolder()
        return try await Program(path: "/bin/sh").run(
            ["-c", "\(limit) && exec '\(try Program.pushmta().path)' \(words)"],
            environment: [
                "PUSHMTA_DATABASE_URL": "host=\(folder.path)", "PUSHMTA_MTA_WORKING_PATH": folder.path + "/mta",
                "PUSHMTA_WEB_WORKING_PATH": folder.path + "/web", "PUSHMTA_WEB_PORT": "1",
            ]
        )
    }

    /// Without enough files, a library would crash them during their work.
    @Test(arguments: ["supervisor run", "feedback", "web"], [24, 60])
    func aProcessThatMayOpenTooFewSaysSoAndDoesNotStart(_ words: String, _ limit: Int) async throws {
        let ending = try await run("ulimit -n \(limit)", words)
        #expect(ending.status == 78, "\(ending)")
        #expect(ending.errors.contains("may have \(limit) files open at once, and needs"), "\(ending.errors)")
        #expect(ending.errors.contains("ulimit -n") && ending.errors.contains("LimitNOFILE="))
    }

    /// Its supervisor's limit may have been lowered since (prlimit).
    @Test(arguments: [24, 60]) func aChildThatMayOpenTooFewSaysSoAndDoesNotStart(_ limit: Int) async throws {
        let folder = try TemporaryFolder()
        let journal = folder.path + "/child-1.journal"
        let arguments = ChildArguments(
            childID: 1,
            hostID: UUID().uuidString,
            generation: 1,
            applicationID: 1,
            accountID: 1,
            connector: .iosHTTP2,
            journalFile: journal
        )
        let ending = try await run("ulimit -n \(limit)", arguments.commandLine.joined(separator: " "))
        #expect(ending.status == 78, "\(ending)")
        #expect(
            ending.errors.contains("The MTA child may have \(limit) files open at once, and needs"),
            "\(ending.errors)"
        )
        #expect(!FileManager.default.fileExists(atPath: journal))
    }

    @Test func moreChildrenNeedMore() {
        var settings = Settings()
        let few = OpenFiles.supervisor(settings)
        // Children inherit the limit: one child may need more files than many children need of the supervisor.
        #expect(few >= OpenFiles.child(settings))
        settings.mta.child.maxAPNsConnectPerChild = 1
        settings.mta.child.maxGCMConnectPerChild = 1
        let fewWithOneConnection = OpenFiles.supervisor(settings)
        #expect(fewWithOneConnection < few)
        settings.mta.master.maxSpareServers = 200
        #expect(OpenFiles.supervisor(settings) > fewWithOneConnection + 500)
        #expect(OpenFiles.supervisor(settings) >= OpenFiles.child(settings))
    }

    /// A low limit that a process may raise does no harm: it starts, and its children get the raised limit.
    @Test func aLimitThatMayBeRaisedIsRaised() async throws {
        try await DeliverySite.with(subscribers: 100) { site in
            try await site.testSite.supervisor.stop()
            let words = [
                "-c",
                "ulimit -Sn 24 && exec '\(site.testSite.programs.pushmta)' supervisor run --config '\(site.testSite.settingsFile)'",
            ]
            try await site.testSite.supervisor.start("/bin/sh", words)
            let id = try await site.send(to: site.application)
            #expect(try await site.progress(id).sent == 100)
        }
    }
}
