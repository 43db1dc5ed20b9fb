import PushCore
import Testing

@testable import Supervisor

@Suite struct DailyMomentTests {
    private func at(_ day: Int, _ hour: Int, _ minute: Int = 0, _ second: Int = 0) -> LocalTime {
        LocalTime(day: day, second: (hour * 60 + minute) * 60 + second)
    }

    /// The looks that find that the time has come.
    private func found(_ looks: [LocalTime], _ time: TimeOfDay? = TimeOfDay("06:00:00")) -> [Int] {
        var moment = DailyMoment()
        return looks.indices.filter { moment.hasCome(time, at: looks[$0]) }
    }

    @Test func onceADay() {
        let looks = [at(1, 5, 59, 59), at(1, 6), at(1, 6, 0, 1), at(1, 7), at(2, 5), at(2, 6, 0, 1), at(2, 23)]
        #expect(found(looks) == [1, 5])
    }

    @Test func aStartAfterTheTimeWaitsForTheNextDay() {
        #expect(found([at(1, 6, 0, 5), at(1, 12), at(2, 5), at(2, 6)]) == [3])
    }

    @Test func noTimeNeverComes() {
        #expect(found([at(1, 5), at(1, 7), at(2, 7)], nil).isEmpty)
        #expect(found([at(1, 5), at(1, 7)], TimeOfDay("")).isEmpty)
    }

    @Test func aClockThatIsSetBackBringsNoSecondOne() {
        #expect(found([at(1, 5, 59), at(1, 6, 1), at(1, 5, 51), at(1, 6, 1), at(2, 6, 1)]) == [1, 4])
    }

    @Test func anHourThatIsSkippedCountsAndASleptDayDoesNotAddUp() {
        #expect(found([at(1, 1, 59), at(1, 3)], TimeOfDay("02:30:00")) == [1])
        #expect(found([at(1, 5), at(4, 9), at(4, 10)]) == [1])
        #expect(found([at(1, 5), at(4, 3), at(4, 10)]) == [2])
    }

    @Test func theWallClockIsRead() {
        let now = LocalTime.now()
        #expect((0..<86_401).contains(now.second) && now.day > 100 * 366)
    }
}
