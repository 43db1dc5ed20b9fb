#ifndef PUSHMTA_CLOCK_SHIFT_H
#define PUSHMTA_CLOCK_SHIFT_H

/// The environment variable that names the file with the shift: eight bytes, a signed number of nanoseconds in the machine's byte order,
/// which is added to the wall clock. The file is mapped, so a change takes effect the next time the clock is read.
#define CLOCK_SHIFT_FILE_VARIABLE "CLOCK_SHIFT_FILE"

#endif
