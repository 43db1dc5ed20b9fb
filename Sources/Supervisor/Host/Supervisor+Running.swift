import SystemPackage

extension Supervisor {
    /// The process id of the supervisor that runs on a folder (`mta.workingPath`) of this machine at this moment; nil if none does.
    ///
    /// The lock that a supervisor holds on a file in the folder is the proof, so the answer is right whatever ended an earlier
    /// one, and needs neither the database nor a process list.
    ///
    /// - Throws: ``SupervisorError`` when the folder cannot be looked at, such as without the rights to it.
    public static func running(in folder: String) throws -> Int32? {
        try HostFolder.owner(of: FilePath(folder))
    }
}
