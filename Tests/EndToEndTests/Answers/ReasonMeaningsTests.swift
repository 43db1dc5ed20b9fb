import Gateways
import Testing

@testable import pushmta

/// What the console says of gateways' reasons.
@Suite struct ReasonMeaningsTests {
    @Test func theyDoNotContradictWhatThePageShows() throws {
        let meaning = try #require(ReasonMeanings.explanation(of: "BadDeviceToken"))
        #expect(meaning.hasPrefix("the push token is invalid") && meaning.contains("never send to it again; when"))
        for row in AnswerTable.rows where !row.reason.isEmpty {
            #expect(ReasonMeanings.explanation(of: row.reason)?.contains("(Adobe") == false, "\(row.reason)")
        }
    }
}
