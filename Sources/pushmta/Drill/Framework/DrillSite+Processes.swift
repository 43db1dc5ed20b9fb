extension DrillSite {
    /// How long a process that has ended may wait for its parent to take note of it.
    private static let zombieLimit = Duration.seconds(5)

    /// No supervisor may leave a child that has ended without taking note of it: a finding if one does.
    func expectNoZombies() async {
        for host in hosts {
            guard let supervisor = host.supervisorID else { continue }
            do {
                try await until("the supervisor of host \(host.name) leaves no zombie", within: Self.zombieLimit) {
                    ProcessRecord.zombies(of: supervisor).isEmpty
                }
            } catch {
                finding("\(error): \(ProcessRecord.zombies(of: supervisor))")
            }
        }
    }
}
