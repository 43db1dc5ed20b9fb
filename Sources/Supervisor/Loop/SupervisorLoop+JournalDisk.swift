import Synchronization

extension SupervisorLoop {
    /// Watches the disk of the journals with each beat, whether or not the database is there to be told.
    func watchJournalDisk() async {
        let disk = JournalDisk(folder: folder.path)
        var known: String?
        while !Task.isCancelled {
            let trouble = disk.probe()
            condition.update { condition in
                condition.journalTrouble = trouble
                condition.lowJournalSpace = disk.lowSpace()
                // A folder that cannot be listed is the trouble already.
                condition.journalsPutAside = (try? folder.journalsPutAside()) ?? condition.journalsPutAside
            }
            if (trouble == nil) != (known == nil) { tell(.journalDisk(trouble: trouble)) }
            known = trouble
            try? await Task.sleep(for: Self.beatInterval)
        }
    }
}
