#include "threads.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#ifndef _WIN32
#include <unistd.h>
#endif

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "module.h"

namespace suffice {

std::size_t range_cells = std::size_t(1) << 19, range_sums = std::size_t(1) << 21;

namespace {

using Clock = std::chrono::steady_clock;
// How long a signal may wait for an answer, beside the time of one task.
constexpr auto PATIENCE = std::chrono::milliseconds(20);

// Functions of libraries whose limit of threads each thread has of its own. A thread of the pool
// calls them with 1 before it works: it is not to start threads itself.
struct ThreadLimits {
    std::mutex lock;
    std::atomic<std::size_t> version{0};
    std::vector<void (*)(int)> setters;

    void apply(std::size_t& seen) {
        if (seen == version) return;
        std::lock_guard<std::mutex> guard(lock);
        for (auto* set : setters) set(1);
        seen = version;
    }
};

ThreadLimits& thread_limits() {
    static ThreadLimits* limits = new ThreadLimits();  // never destroyed, as the pool
    return *limits;
}

// A call's tasks, taken by whichever thread is free.
struct Job {
    Job(std::size_t tasks, const std::function<void(std::size_t)>& work) : tasks(tasks), work(work) {}

    const std::size_t tasks;
    const std::function<void(std::size_t)>& work;
    std::atomic<std::size_t> next{0};
    std::atomic<bool> cancelled{false};
    std::size_t busy = 0;  // threads of the pool that are inside; guarded by the pool
    std::mutex failing;
    std::exception_ptr failure;

    bool has_tasks() const { return !cancelled && next < tasks; }

    // Do one task, if there is one left.
    bool step() {
        if (cancelled) return false;
        const std::size_t task = next++;
        if (task >= tasks) return false;
        try {
            work(task);
        } catch (...) {
            std::lock_guard<std::mutex> guard(failing);
            if (!failure) failure = std::current_exception();
            cancelled = true;
        }
        return true;
    }
};

class Pool {
  public:
    // Threads beside those that call.
    void run(Job& job, std::size_t helpers) {
        {
            std::lock_guard<std::mutex> guard(lock_);
            for (; threads_ < helpers; ++threads_) std::thread(&Pool::serve, this).detach();
            jobs_.push_back(&job);
        }
        for (std::size_t i = 0; i < std::min(helpers, job.tasks - 1); ++i) wake_.notify_one();
        std::exception_ptr interruption;
        try {
            while (job.step()) check_interrupt();
        } catch (...) {
            interruption = std::current_exception();
            job.cancelled = true;
        }
        std::unique_lock<std::mutex> guard(lock_);
        jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
        while (job.busy > 0) {
            if (left_.wait_for(guard, PATIENCE) == std::cv_status::timeout && !interruption) {
                guard.unlock();
                try {
                    check_interrupt();
                } catch (...) {
                    interruption = std::current_exception();
                    job.cancelled = true;
                }
                guard.lock();
            }
        }
        guard.unlock();
        if (interruption) std::rethrow_exception(interruption);
    }

  private:
    void serve() {
        inside_pool = true;
        std::size_t limited = 0;
        std::unique_lock<std::mutex> guard(lock_);
        while (true) {
            Job* job = nullptr;
            wake_.wait(guard, [&] { return (job = open_job()) != nullptr; });
            ++job->busy;
            guard.unlock();
            thread_limits().apply(limited);
            current = job;
            while (job->step()) {}
            guard.lock();
            if (--job->busy == 0) left_.notify_all();
        }
    }

    Job* open_job() {
        for (Job* job : jobs_)
            if (job->has_tasks()) return job;
        return nullptr;
    }

    std::mutex lock_;
    std::condition_variable wake_, left_;
    std::deque<Job*> jobs_;
    std::size_t threads_ = 0;

  public:
    static thread_local bool inside_pool;
    static thread_local const Job* current;  // what a thread of the pool is working on
};

thread_local bool Pool::inside_pool = false;
thread_local const Job* Pool::current = nullptr;

std::size_t process_number() {
#ifdef _WIN32
    return 0;  // no process is forked
#else
    return static_cast<std::size_t>(getpid());
#endif
}

// The pool of this process. A forked child has none of its parent's threads, and makes a pool of
// its own; the parent's is never destroyed, for its threads may outlive everything else.
Pool& pool() {
    static std::mutex making;
    static std::atomic<Pool*> made{nullptr};
    static std::atomic<std::size_t> owner{0};
    if (made.load() == nullptr || owner.load() != process_number()) {
        std::lock_guard<std::mutex> guard(making);
        if (made.load() == nullptr || owner.load() != process_number()) {
            made = new Pool();
            owner = process_number();
        }
    }
    return *made.load();
}

std::atomic<std::size_t> thread_limit{0};

}  // namespace

// How many threads a call uses: what Python's `suffice.threads` says, which is asked once.
std::size_t threads() {
    if (thread_limit == 0) {
        nb::gil_scoped_acquire lock;
        thread_limit = nb::cast<std::size_t>(nb::module_::import_("suffice.threads").attr("get_threads")());
    }
    return thread_limit;
}

void check_interrupt() {
    if (Pool::inside_pool) {
        // The call throws what ended it, and not this.
        if (Pool::current->cancelled) throw std::runtime_error("a task of a call that was ended");
        return;
    }
    thread_local Clock::time_point last = Clock::now();
    const Clock::time_point now = Clock::now();
    if (now - last < PATIENCE) return;
    last = now;
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void in_parallel(std::size_t tasks, const std::function<void(std::size_t)>& work) {
    const std::size_t helpers = tasks > 1 && !Pool::inside_pool ? threads() - 1 : 0;
    if (helpers == 0) {
        for (std::size_t task = 0; task < tasks; ++task) {
            work(task);
            check_interrupt();
        }
        return;
    }
    Job job(tasks, work);
    pool().run(job, std::min(helpers, tasks - 1));
    if (job.failure) std::rethrow_exception(job.failure);
}

void bind_threads(nb::module_& m) {
    m.def(
        "set_threads", [](std::size_t n) { thread_limit = n; }, nb::arg("threads"),
        "Set how many threads a call uses; 0 asks suffice.threads at the next call.");
    m.def(
        "limit_libraries",
        [](const std::vector<std::uintptr_t>& setters) {
            ThreadLimits& limits = thread_limits();
            std::lock_guard<std::mutex> guard(limits.lock);
            limits.setters.clear();
            for (std::uintptr_t setter : setters) limits.setters.push_back(reinterpret_cast<void (*)(int)>(setter));
            ++limits.version;
        },
        nb::arg("setters"), "Have each thread of the pool call functions, given by address, with 1.");
    m.def(
        "get_ranges", [] { return std::make_tuple(range_cells, range_sums); },
        "Return how many cells a range of rows holds, and all ranges how many sums.");
    m.def(
        "set_ranges",
        [](std::size_t cells, std::size_t sums) {
            range_cells = std::max<std::size_t>(1, cells);
            range_sums = std::max<std::size_t>(1, sums);
        },
        nb::arg("cells"), nb::arg("sums"), "Set how many cells a range of rows holds, and sums all ranges: for tests.");
    m.def(
        "row_ranges",
        [](std::size_t rows, std::size_t columns, std::size_t sums) {
            const Ranges ranges(rows, columns, sums);
            std::vector<std::pair<std::size_t, std::size_t>> all;
            for (std::size_t range = 0; range < ranges.count(); ++range)
                all.emplace_back(ranges.start(range), ranges.stop(range));
            return all;
        },
        nb::arg("rows"), nb::arg("columns"), nb::arg("sums") = 0,
        "Return start and stop of the ranges that rows are cut into; each holds so many sums.");
    m.def(
        "call_in_parallel",
        [](nb::callable work, std::size_t tasks) {
            std::vector<nb::object> answers(tasks);
            {
                nb::gil_scoped_release release;
                in_parallel(tasks, [&](std::size_t task) {
                    nb::gil_scoped_acquire lock;
                    answers[task] = work(task);
                });
            }
            nb::list found;
            for (nb::object& answer : answers) found.append(std::move(answer));
            return found;
        },
        nb::arg("work"), nb::arg("tasks"), "Return [work(0), ..., work(tasks - 1)], called by all threads.");
}

}  // namespace suffice
