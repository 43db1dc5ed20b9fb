import Testing

@testable import pushmta

@Suite struct AlarmTextTests {
    @Test func theListSaysSoIfNobodyHasLookedForALongTime() {
        #expect(AlarmListCommand.notice(secondsSinceLook: 29) == nil)
        #expect(AlarmListCommand.notice(secondsSinceLook: 130.7)?.contains("for 130 s") == true)
        #expect(AlarmListCommand.notice(secondsSinceLook: nil)?.contains("yet") == true)
    }
}
