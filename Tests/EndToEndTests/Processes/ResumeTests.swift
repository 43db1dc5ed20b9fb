import Foundation
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// `app resume` after an operator has corrected the fault.
@Suite(.serialized) struct ResumeTests {
    /// Children die at once with another key, and the next one is started a minute later at the earliest.
    @Test func itEndsTheWaitForANewChildAndSaysSo() async throws {
        try await DeliverySite.with(subscribers: 500) { site in
            let (key, aside) = (site.settings.credentialKeyFile, site.settings.credentialKeyFile + ".aside")
            // Running processes have already opened the credential.
            try await site.testSite.supervisor.stop()
            try FileManager.default.moveItem(atPath: key, toPath: aside)
            // Another key, which opens no credential: a supervisor does not start without a key.
            try CredentialKeyFile.create(at: key)
            try await site.testSite.startSupervisor()
            let id = try await site.send(to: site.application)
            // Several are started at once; wait until the last one has ended.
            try await site.wait("the end of all children") {
                let children = try await site.store.children(includeExited: true)
                return children.contains { $0.exitReason == "settings" } && children.allSatisfy { $0.exitReason != nil }
            }
            try FileManager.default.removeItem(atPath: key)
            try FileManager.default.moveItem(atPath: aside, toPath: key)
            let ending = try await site.run("app", "resume", site.application)
            #expect(ending.output.contains("starts children for it at once"), "\(ending.output)")
            #expect(ending.output.contains("settings"), "\(ending.output)")
            // Half of the minute for which the pause would last.
            let progress = try await site.progress(id, within: .seconds(30))
            #expect(progress.sent == 500)
            let again = try await site.run("app", "resume", site.application)
            #expect(again.output.contains("nothing is held back"), "\(again.output)")
        }
    }

    @Test func aFileOfAuthoritiesThatAHostLacksIsNamedWithWhatToDo() async throws {
        try await DeliverySite.with(subscribers: 100) { site in
            let folder = try TemporaryFolder()
            let file = folder.path + "/authorities.pem"
            try FileManager.default.copyItem(atPath: site.simulator.ca, toPath: file)
            _ = try await site.run("account", "set", site.application, "--ca-file", file)
            try FileManager.default.removeItem(atPath: file)
            let doctor = try await site.run("doctor", expect: 1)
            #expect(doctor.output.contains("of certificate authorities, which external account"), "\(doctor.output)")
            let id = try await site.send(to: site.application)
            try await site.wait("both alarms") {
                Set(try await site.store.alarms().map(\.code)).isSuperset(of: ["application_trouble", "host_alarm"])
            }
            let alarms = try await site.store.alarms()
            let trouble = try #require(alarms.first { $0.code == "application_trouble" })
            let host = ProcessInfo.processInfo.hostName
            for words in [file, "external account \(site.application)", "host \(host)"] {
                #expect(trouble.text.contains(words), "\(trouble.text)")
            }
            #expect(trouble.remedy.contains("pushmta account set \(site.application) --ca-file"), "\(trouble.remedy)")
            let alarm = try #require(alarms.first { $0.code == "host_alarm" })
            #expect(
                alarm.text.contains("application \(site.application) through account \(site.application)"),
                "\(alarm.text)"
            )
            #expect(alarm.remedy.contains("pushmta app resume \(site.application)"), "\(alarm.remedy)")
            try FileManager.default.copyItem(atPath: site.simulator.ca, toPath: file)
            _ = try await site.run("app", "resume", site.application)
            #expect(try await site.progress(id, within: .seconds(30)).sent == 100)
        }
    }
}
