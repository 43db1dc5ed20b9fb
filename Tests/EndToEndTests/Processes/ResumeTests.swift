import Foundation
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// `app resume` after an operator has put right what was wrong.
@Suite(.serialized) struct ResumeTests {
    /// Children die at once with another key, and the next one is started a minute later at the earliest.
    @Test func itEndsTheWaitForANewChildAndSaysSo() async throws {
        try await DeliverySite.with(subscribers: 500) { site in
            let (key, aside) = (site.settings.credentialKeyFile, site.settings.credentialKeyFile + ".aside")
            // The ones that run have the credential.
            try await site.testSite.supervisor.stop()
            try FileManager.default.moveItem(atPath: key, toPath: aside)
            // Another one, which opens no credential: a supervisor does not start without any.
            try CredentialKeyFile.create(at: key)
            try await site.testSite.startSupervisor()
            let id = try await site.send(to: site.application)
            // Several are started at once: the last of them, too.
            try await site.wait("the end of all children") {
                let children = try await site.store.children(includeExited: true)
                return children.contains { $0.exitReason == "settings" } && children.allSatisfy { $0.exitReason != nil }
            }
            try FileManager.default.removeItem(atPath: key)
            try FileManager.default.moveItem(atPath: aside, toPath: key)
            let ending = try await site.run("app", "resume", site.application)
            #expect(ending.output.contains("starts children for it at once"), "\(ending.output)")
            #expect(ending.output.contains("settings"), "\(ending.output)")
            // Half of the minute that the pause would last.
            let progress = try await site.progress(id, within: .seconds(30))
            #expect(progress.sent == 500)
            let again = try await site.run("app", "resume", site.application)
            #expect(again.output.contains("nothing is held back"), "\(again.output)")
        }
    }
}
