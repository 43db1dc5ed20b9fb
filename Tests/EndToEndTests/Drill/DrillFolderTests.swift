import Foundation
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Every user may write to the temporary folder, and a drill executes files left there. So it accepts only files of its
/// own user.
@Suite struct DrillFolderTests {
    private let parent: TemporaryFolder

    init() throws {
        parent = try TemporaryFolder()
    }

    /// A folder of a process that ended long ago, as an older version left it.
    private func leftover(_ name: String = "pushmta-drill-2147483646-x", mode: Int = 0o700) throws -> String {
        let folder = parent.path + "/" + name
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
        return folder
    }

    @Test func whatADeadDrillLeftIsFound() throws {
        let folder = try leftover()
        #expect(DrillFolder.leftovers(in: parent.path) == [folder])
    }

    @Test(arguments: [0o777, 0o720, 0o702]) func whereOthersCanWriteNothingIsDone(mode: Int) throws {
        _ = try leftover(mode: mode)
        #expect(DrillFolder.leftovers(in: parent.path).isEmpty)
    }

    @Test func aLinkIsNotFollowed() throws {
        let folder = try leftover("elsewhere")
        try FileManager.default.createSymbolicLink(
            atPath: parent.path + "/pushmta-drill-2147483646-x",
            withDestinationPath: folder
        )
        #expect(DrillFolder.leftovers(in: parent.path).isEmpty)
    }

    @Test func whatBelongsToAnotherIsLeftAlone() throws {
        // Only root can change the owner of a folder.
        guard getuid() == 0 else { return }
        let folder = try leftover()
        try FileManager.default.setAttributes([.ownerAccountID: NSNumber(value: 65_534)], ofItemAtPath: folder)
        #expect(DrillFolder.leftovers(in: parent.path).isEmpty)
    }

    @Test func aFolderIsOnesOwnAndInUse() throws {
        let first = try DrillFolder.make("x", keeps: false, in: parent.path)
        let second = try DrillFolder.make("x", keeps: false, in: parent.path)
        #expect(first != second)
        #expect(FileOwnership(first)?.permissions == 0o700)
        #expect(DrillFolder.leftovers(in: parent.path).isEmpty)
    }

    @Test func aFolderThatSomebodyElseMadeIsNotUsed() throws {
        let folder = parent.path + "/pushmta-drill-\(getpid())-x"
        try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: "/nowhere")
        #expect(try DrillFolder.make("x", keeps: false, in: parent.path) == folder + "-2")
    }

    @Test func mountsAreFoundByTheirFolders() {
        let mounts = MountList("tmpfs /tmp/a tmpfs rw 0 0\ntmpfs /tmp/a\\040b/c tmpfs rw 0 0\nproc /proc proc rw 0 0\n")
        #expect(mounts.under(["/tmp/a"]) == ["/tmp/a"])
        #expect(mounts.under(["/tmp/a b", "/tm"]) == ["/tmp/a b/c"])
    }
}
