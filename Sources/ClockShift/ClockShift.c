// ClockShift: a library that gives a process a shifted wall clock, for drills and tests.
//
// WHAT IT DOES
//   Interposes the C library's clock functions and adds a shift to the wall clock: clock_gettime, gettimeofday, time and timespec_get.
//   Deadlines computed from the shifted clock are shifted back before the kernel gets them: pthread_cond_timedwait,
//   pthread_mutex_timedlock, sem_timedwait, timerfd_settime, clock_nanosleep. Monotonic clocks and waits on them are unchanged, as on a
//   machine whose wall clock is stepped.
//
// HOW IT IS USED
//   No target imports it. ClockDrill and its test start processes, including PostgreSQL, with LD_PRELOAD and CLOCK_SHIFT_FILE. That
//   variable names a file with the shift in nanoseconds: eight bytes, signed, in the machine's byte order. Writing to the file moves the
//   clocks of all these processes.
//
// THREADS AND TASKS
//   Any thread of the process. The file is mapped once, read only, when the library is loaded; reading the clock is the real call plus a
//   load.
//
// WHY NOT LIBFAKETIME
//   With FAKETIME_DONT_FAKE_MONOTONIC it still shifts the deadlines of clock_nanosleep, timerfd_settime and condition variables on the
//   monotonic clock, so a Swift task sleeps forever. PostgreSQL's statement_timeout never fires under it.
//
// FAILURES
//   Without the variable, or with a file that cannot be opened or mapped, the shift is 0. Linux only: elsewhere it is empty.
//
// SEE ALSO
//   include/ClockShift.h, Sources/Laboratory/Drills/ClockDrill.swift

#define _GNU_SOURCE
#include "ClockShift.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { NANOSECONDS = 1000000000 };

// A deadline on the monotonic clock counts from the machine's boot and stays below this for 31 years; one on the wall clock has been above
// it since 2001. So the deadline shows its clock, which a condition variable does not.
static const time_t LEAST_WALL_CLOCK_SECONDS = 1000000000;

static const int64_t no_shift = 0;
static const volatile int64_t *shift = &no_shift;

static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*real_mutex_timedlock)(pthread_mutex_t *, const struct timespec *);
static int (*real_sem_timedwait)(sem_t *, const struct timespec *);
static int (*real_timerfd_settime)(int, int, const struct itimerspec *, struct itimerspec *);
static int (*real_clock_nanosleep)(clockid_t, int, const struct timespec *, struct timespec *);

__attribute__((constructor)) static void clock_shift_start(void) {
    real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    // The symbol version matters: glibc has an old condition variable under the same name.
    real_cond_timedwait = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlvsym(
        RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!real_cond_timedwait) {
        real_cond_timedwait = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlsym(
            RTLD_NEXT, "pthread_cond_timedwait");
    }
    real_mutex_timedlock =
        (int (*)(pthread_mutex_t *, const struct timespec *))dlsym(RTLD_NEXT, "pthread_mutex_timedlock");
    real_sem_timedwait = (int (*)(sem_t *, const struct timespec *))dlsym(RTLD_NEXT, "sem_timedwait");
    real_timerfd_settime = (int (*)(int, int, const struct itimerspec *, struct itimerspec *))dlsym(
        RTLD_NEXT, "timerfd_settime");
    real_clock_nanosleep = (int (*)(clockid_t, int, const struct timespec *, struct timespec *))dlsym(
        RTLD_NEXT, "clock_nanosleep");

    const char *path = getenv(CLOCK_SHIFT_FILE_VARIABLE);
    if (!path) return;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) shift = mapped;
}

static struct timespec moved(struct timespec time, int64_t nanoseconds) {
    time.tv_sec += nanoseconds / NANOSECONDS;
    time.tv_nsec += nanoseconds % NANOSECONDS;
    if (time.tv_nsec >= NANOSECONDS) {
        time.tv_sec += 1;
        time.tv_nsec -= NANOSECONDS;
    } else if (time.tv_nsec < 0) {
        time.tv_sec -= 1;
        time.tv_nsec += NANOSECONDS;
    }
    return time;
}

static int is_wall_clock(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

// The deadline for the kernel, from one that the process computed with the shifted clock.
static struct timespec true_deadline(const struct timespec *deadline) {
    return deadline->tv_sec < LEAST_WALL_CLOCK_SECONDS ? *deadline : moved(*deadline, -*shift);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    // Another library's constructor may read the clock before ours has run.
    if (!real_clock_gettime) clock_shift_start();
    int result = real_clock_gettime(clock, time);
    if (result == 0 && is_wall_clock(clock)) *time = moved(*time, *shift);
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *now, int base) {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
    struct timespec wanted = true_deadline(deadline);
    return real_cond_timedwait(condition, mutex, &wanted);
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline) {
    struct timespec wanted = true_deadline(deadline);
    return real_mutex_timedlock(mutex, &wanted);
}

int sem_timedwait(sem_t *semaphore, const struct timespec *deadline) {
    struct timespec wanted = true_deadline(deadline);
    return real_sem_timedwait(semaphore, &wanted);
}

int timerfd_settime(int file, int flags, const struct itimerspec *setting, struct itimerspec *old) {
    if (!(flags & TFD_TIMER_ABSTIME)) return real_timerfd_settime(file, flags, setting, old);
    struct itimerspec wanted = *setting;
    wanted.it_value = true_deadline(&setting->it_value);
    return real_timerfd_settime(file, flags, &wanted, old);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest) {
    if (!(flags & TIMER_ABSTIME)) return real_clock_nanosleep(clock, flags, time, rest);
    struct timespec wanted = true_deadline(time);
    return real_clock_nanosleep(clock, flags, &wanted, rest);
}

#endif
