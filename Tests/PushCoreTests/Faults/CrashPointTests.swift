@testable import PushCore

#if DEBUG
import Foundation
import Testing

@Suite struct CrashPointTests {
    private func trap(_ visit: Int, armed: Bool = true) throws -> (trap: CrashPointTrap, file: String) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("crash-\(UUID()):armed").path
        if armed { try Data().write(to: URL(fileURLWithPath: file)) }
        return (try #require(CrashPointTrap("after-mark:\(visit):\(file)")), file)
    }

    @Test func springsAtTheGivenVisitOnly() throws {
        let (trap, file) = try trap(3)
        let visits = (0..<5).map { _ in trap.springs(at: .afterClaim) || trap.springs(at: .afterMark) }
        #expect(visits == [false, false, true, false, false])
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func withoutItsFileItIsNotArmed() throws {
        let (trap, _) = try trap(1, armed: false)
        #expect(!trap.springs(at: .afterMark))
    }

    @Test func oneOfTwoProcessesWithTheSameFileDies() throws {
        let (first, file) = try trap(1)
        let second = try #require(CrashPointTrap("after-mark:1:\(file)"))
        #expect([first, second].filter { $0.springs(at: .afterMark) }.count == 1)
    }

    @Test func otherTextsArmNothing() {
        for text in ["", "after-mark", "after-mark:1", "after-mark:0:f", "after-mark:x:f", "nowhere:1:f"] {
            #expect(CrashPointTrap(text) == nil, "\(text)")
        }
    }

    @Test func aPointThatIsNotArmedLetsPass() {
        for point in CrashPoint.allCases { point.reached() }
        #expect(CrashPoint.isCompiledIn)
    }
}
#endif
