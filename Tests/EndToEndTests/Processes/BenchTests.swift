import Testing

@testable import Administration
@testable import Laboratory

/// `pushmta bench`, far below what it is made for.
@Suite struct BenchTests {
    @Test func readersHoldTheirSnapshotsWhileADeliveryGoes() async throws {
        let bench = ["bench", "delivery", "--messages", "2000", "--readers", "2", "--json"]
        let ending = try await Program.pushmta().run(bench)
        #expect(ending.status == 0, "\(ending.errors)")
        let line = try ending.json()
        #expect(line["sent"] as? Int == 2_000 && line["complete"] as? Bool == true)
        #expect(line["readers"] as? Int == 2)
        #expect((line["reads"] as? Int).map { $0 >= 2 } == true)
    }

    @Test(arguments: [
        ["--connector", "ios-binary", "--error-every", "500"],
        ["--connector", "ios-http2", "--credential", "certificate"],
        ["--connector", "android-v1", "--credential", "project-key", "--equal"],
        ["--connector", "android-v2", "--credential", "service-account"],
    ])
    func everyConnectorIsMeasured(_ words: [String]) async throws {
        let ending = try await Program.pushmta().run(["bench", "delivery", "--messages", "2000", "--json"] + words)
        #expect(ending.status == 0, "\(words): \(ending.output) \(ending.errors)")
        let line = try ending.json()
        let refused = words.contains("ios-binary") ? 4 : 0
        #expect(line["sent"] as? Int == 2_000 - refused && line["failed"] as? Int == refused)
        #expect(line["complete"] as? Bool == true)
    }

    @Test func whatAConnectorDoesNotTakeIsRefused() async throws {
        for words in [["--connector", "ios-binary", "--credential", "key"], ["--error-every", "5"]] {
            #expect(try await Program.pushmta().run(["bench", "delivery"] + words).status == 64)
        }
    }

    @Test func tooManyReadersAreRefused() async throws {
        #expect(try await Program.pushmta().run(["bench", "delivery", "--readers", "33"]).status == 64)
    }
}
