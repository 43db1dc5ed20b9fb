import PushCore
import Testing

@testable import MTAChild
@testable import Store

/// What is rendered of a delivery's first messages, and when it is the content's fault that they would not be sent.
@Suite struct RenderedMessagesTests {
    private static func job(_ title: String, android: String = "Hi") -> PreparationJob {
        let account = AccountRow(
            id: 1,
            name: "a",
            connector: .iosHTTP2,
            host: "gateway.example",
            port: 443,
            options: "{}",
            active: true
        )
        return PreparationJob(
            deliveryID: 16,
            label: "",
            content: #"{"missing": "exclude", "ios": {"title": "\#(title)"}, "android": {"title": "\#(android)"}}"#,
            applications: [ContentFixture.application()],
            accounts: [account],
            credentials: [nil]
        )
    }

    @Test func onlyContentsWithFieldsAreTried() {
        #expect(ChunkTrial.of(Self.job("Hi {{firstName}}")) != nil)
        #expect(ChunkTrial.of(Self.job("Hi", android: "Hi {{firstName}}")) == nil)
        #expect(ChunkTrial.of(Self.job("Hi")) == nil)
        // Its view would be read under the locks of the chunk.
        #expect(ChunkTrial.of(Self.job("Hi {{mapping.city}}")) == nil)
    }

    /// The problems of messages with these first names.
    ///
    /// - Parameters:
    ///   - longest: how many of the last ones were chosen for their length.
    ///   - all: the number of messages from which they were chosen; nil if there are no others.
    private func problems(_ names: [String?], longest: Int = 0, among all: Int64? = nil) throws -> [String] {
        let trial = try #require(ChunkTrial.of(Self.job("Hi {{firstName}}")))
        let route = try #require(trial.routes.first)
        var loaded = LoadedPart()
        for row in names.indices {
            loaded.sequences.append(Int32(row + 1))
            loaded.subscriptionIDs.append(Int64(row + 100))
            loaded.tokens.append("5a5a".utf8)
            loaded.decisions.append(.sendable)
        }
        loaded.fields = [ByteColumn(names)]
        var judge = route.judge
        judge.add(loaded) { $0 < names.count - longest }
        return judge.problems(among: all ?? Int64(names.count)).map(\.problem)
    }

    private static let long = String(repeating: "x", count: 5_000)

    @Test func aFewLongValuesAreNotTheContentsFault() throws {
        #expect(try problems(Array(repeating: "Ada", count: 50) + Array(repeating: Self.long, count: 9)) == [])
        #expect(try problems(Array(repeating: "Ada", count: 990) + Array(repeating: Self.long, count: 10)) == [])
        let found = try problems(Array(repeating: "Ada", count: 50) + Array(repeating: Self.long, count: 10))
        #expect(found.count == 1 && found.first?.contains("10 of 60") == true, "\(found)")
        #expect(try problems([Self.long]).count == 1)
    }

    @Test func theLongestValuesCountAgainstAllMessages() throws {
        let names = Array(repeating: "Ada", count: 50) + Array(repeating: Self.long, count: 20)
        #expect(try problems(names, longest: 20, among: 2_000) == [])
        let found = try problems(names, longest: 20, among: 1_999)
        #expect(found.count == 1 && found.first?.contains("at least 20 of 1999") == true, "\(found)")
        // Nine are a few people, however small the target.
        #expect(try problems(Array(names.dropLast(11)), longest: 9, among: 59) == [])
    }

    @Test func aValueThatAllLackIs() throws {
        #expect(try problems([nil, nil]).first?.contains("lack the value") == true)
        #expect(try problems([nil, "Ada"]) == [])
        #expect(try problems([]) == [])
    }
}
